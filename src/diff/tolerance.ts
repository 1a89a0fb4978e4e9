// When numbers that differ are close enough. Either every element has to be, or one measure of the whole tensor decides.
import { failWith, usageCodes } from '../errors/index.js'
import type { Closeness } from '../kernels/numbers/compare.js'
import type { ValueDifference } from './types.js'

export const metrics = ['max-abs', 'max-rel', 'rmse', 'snr', 'cosine', 'differing'] as const
export type Metric = (typeof metrics)[number]

export interface ToleranceOptions {
  /**
   * With it, models are compared by value: element types, number types of metadata and stored bytes may differ. Elements are close
   * when |a − b| ≤ abs + rel · max(|a|, |b|); a single number stands for both. With `metric` it is the bound of that measure.
   */
  readonly tolerance?: number | Closeness | undefined
  /** Judge whole tensors by this, and sort by it: cosine and SNR must reach the tolerance, the others must not exceed it. */
  readonly metric?: Metric | undefined
}

/** What single elements may differ by; undefined when it is not they that count. */
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
    refuse(`${numbers.join(' and ')}: a finite number that is not negative is wanted`)
}

/** Whether the tolerance lets this pass. Equal numbers always pass; one that is NaN or infinite on one side only never does. */
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

/** Ascending by this, the worst comes first. Without a metric, what counts is the noise in proportion to the signal. */
export function severity(values: ValueDifference, metric: Metric = 'snr'): number {
  if (values.nonFinite > 0) return Number.NEGATIVE_INFINITY
  if (values.differing === 0) return Number.POSITIVE_INFINITY
  const measure = measureOf(values, metric)
  if (metric === 'snr' || metric === 'cosine') return measure ?? -Number.MAX_VALUE
  return -measure!
}
