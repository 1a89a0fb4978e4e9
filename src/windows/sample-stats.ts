// Statistics of a sample: enough for a table or a first picture, after a few reads. The same bands are read each time, so the figures are, too.

import { failWith, usageCodes } from '../errors/index.js'
import { binOf, equalBins } from '../kernels/numbers/stats/bins.js'
import { deviationOfSorted, meanOfSorted, sortValues } from '../kernels/numbers/stats/few.js'
import type { Tensor } from '../model/index.js'
import { type SampleOptions, sampleBands, storedMatrix } from './bands.js'
import { fileOf } from './plane.js'

/** How large the sample is, and how fine its histogram. */
export interface SampleStatsOptions extends SampleOptions {
  /** Bins of the histogram. Default: 32. */
  readonly bins?: number | undefined
}

/** The values at these shares of the sorted sample are listed. */
export const quantileShares = [0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999] as const

/** Statistics of a sample of the values of a tensor. */
export interface SampleStats {
  /** False where every value was read. */
  readonly isSample: boolean
  /** How many values were read, and how many there are. */
  readonly count: number
  readonly total: number
  readonly nan: number
  readonly infinite: number
  readonly zero: number
  /** Of the finite values that were read; null where there are none. */
  readonly min: number | null
  readonly max: number | null
  readonly mean: number | null
  readonly std: number | null
  /** In the order of `quantileShares`. */
  readonly quantiles: readonly number[]
  /** Counts in bins of equal width from the smallest value to the largest. */
  readonly histogram: readonly number[]
}

const maxSample = 2 ** 24
const maxBins = 65_536

/** Reads a sample of the values of a tensor and computes mean, deviation, quantiles and a histogram. */
export async function sampleStats(tensor: Tensor, options: SampleStatsOptions = {}): Promise<SampleStats> {
  const { bins: binCount = 32, values: wanted = 1 << 18 } = options
  const isPossible = (count: number, max: number): boolean => Number.isInteger(count) && count >= 1 && count <= max
  if (!isPossible(binCount, maxBins) || !isPossible(wanted, maxSample)) {
    const message = `${wanted} values in ${binCount} bins were requested; ${maxSample} in ${maxBins} are possible`
    failWith(usageCodes.option, { file: fileOf(tensor), path: tensor.name, message })
  }
  const { height, width } = storedMatrix(tensor)
  const total = height * width
  const read = new Float32Array(Math.min(total, wanted))
  let count = 0
  for await (const { values } of sampleBands(tensor, options)) {
    const some = values.subarray(0, read.length - count)
    read.set(some, count)
    count += some.length
  }
  const { finite, nan, posInf, negInf, zero } = sortValues(read.subarray(0, count))
  const counts = { isSample: count < total, count, total, nan, infinite: posInf + negInf, zero }
  if (finite.length === 0)
    return { ...counts, min: null, max: null, mean: null, std: null, quantiles: [], histogram: [] }
  const [min, max] = [finite[0]!, finite.at(-1)!]
  const mean = meanOfSorted(finite)
  const bins = equalBins(min, max, binCount)
  for (const x of finite) bins.counts[binOf(bins, x)]!++
  return {
    ...counts,
    min,
    max,
    mean,
    std: deviationOfSorted(finite, mean),
    quantiles: quantileShares.map((share) => finite[Math.round(share * (finite.length - 1))]!),
    histogram: [...bins.counts],
  }
}
