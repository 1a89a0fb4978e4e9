// When differing numbers are close enough: either every element must be, or one measure of the whole tensor decides.
import { failWith, usageCodes } from '../errors/index.js'
import type { Closeness } from '../kernels/numbers/compare.js'
import type { ValueDifference } from './types.js'

export const metrics = ['max-abs', 'max-rel', 'rmse', 'snr', 'cosine', 'differing'] as const
export type Metric = (typeof metrics)[number]

export interface ToleranceOptions {
  /**
   * If set, models are compared by value: element types, number types of metadata and stored bytes may differ. Elements are close when |a −
   * b| ≤ abs + rel · max(|a|, |b|); a single number sets both. With `metric`, it is the bound of that measure.
   */
  readonly tolerance?: number | Closeness | undefined
  /** Judges whole tensors by this measure and sorts by it: cosine and SNR must reach the tolerance, the others must not exceed it. */
  readonly metric?: Metric | undefined
}

/** The tolerance for single elements; undefined when whole tensors are judged. */
export function closenessOf({ tolerance, metric }: ToleranceOptions): Closeness | undefined {
  if (tolerance === undefined || metric !== undefined) return undefined
  return typeof tolerance === 'number' ? { abs: tolerance, rel: tolerance } : tolerance
}

export function checkTolerance({ tolerance, metric }: ToleranceOptions): void {
  const refuse = (message: string): never => failWith(usageCodes.option, { file: 'tolerance', message })
  if (tolerance === undefined) return
  if (metric !== undefined && typeof tolerance !== 'number') refuse(`${metric} has a single bound, not abs and rel`)
  const numbers = typeof tolerance === 'number' ? [tolerance] : [tolerance.abs, tolerance.rel]
  const canBeNegative = metric === 'snr' || metric === 'cosine'
  if (!numbers.every((each) => Number.isFinite(each) && (canBeNegative || each >= 0)))
    refuse(`${numbers.join(' and ')}: expected a finite number that is not negative`)
}

/** Whether the values are within the tolerance. Equal numbers always are; numbers that are NaN or infinite on one side only never are. */
export function isClose(values: ValueDifference, { tolerance, metric }: ToleranceOptions): boolean {
  if (tolerance === undefined || values.nonFinite > 0) return false
  if (values.differing === 0) return true
  if (metric === undefined || typeof tolerance !== 'number') return values.beyond === 0
  const measure = measureOf(values, metric)
  return metric === 'snr' || metric === 'cosine' ? measure !== null && measure >= tolerance : measure! <= tolerance
}

export function measureOf(values: ValueDifference, metric: Metric): number | null {
  switch (metric) {
    case 'max-abs':
      return values.maxAbs
    case 'max-rel':
      return values.maxRel
    default:
      return values[metric]
  }
}

/** A sort key: ascending, the worst comes first. Default: noise in proportion to the signal. */
export function severity(values: ValueDifference, metric: Metric = 'snr'): number {
  if (values.nonFinite > 0) return Number.NEGATIVE_INFINITY
  if (values.differing === 0) return Number.POSITIVE_INFINITY
  const measure = measureOf(values, metric)
  if (metric === 'snr' || metric === 'cosine') return measure ?? -Number.MAX_VALUE
  return -measure!
}
