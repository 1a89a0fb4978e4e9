// Statistics of one tensor. A small tensor is decoded once and kept; a large one is streamed once for the summary and again for what needs
// the mean and the extremes. Types of up to about 16 bits often need no second pass (see the kernels).
import { elementsIn } from '../bytes/index.js'
import type { DType } from '../dtypes/dtype.js'
import { failWith, usageCodes } from '../errors/index.js'
import {
  addDetail,
  type Bins,
  completeWithZeros,
  countNextDigit,
  countSorted,
  createCounts,
  createDetail,
  createSummary,
  type DigitCounts,
  deviationOf,
  deviationOfSorted,
  digitsOf,
  equalBins,
  finiteCount,
  halfway,
  isComplete,
  type KeyKind,
  maxOf,
  meanOf,
  meanOfSorted,
  medianOfSorted,
  middleRanks,
  minOf,
  narrow,
  type Rank,
  releaseCounters,
  type Summary,
  sortValues,
  summarize,
  topsSuffice,
  unitBins,
  valueAt,
} from '../kernels/numbers/stats/index.js'
import type { Tensor } from '../model/index.js'
import { decodedPayload } from '../transforms/decode.js'
import { typeOf, whyUnreadable } from './preview.js'
import { openValues, type Values } from './stats-values.js'

export interface StatsOptions {
  /** Number of histogram bins of equal width. Default: 10. */
  readonly bins?: number | undefined
  /** Also find the last bits of the median of large 64-bit tensors, which takes two more passes. */
  readonly exact?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  /** In bytes of decoded values, all passes together. */
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

export interface HistogramBin {
  readonly low: number
  readonly high: number
  readonly count: number
}

/**
 * Everything but the first five numbers is about the finite values, and null when there are none. All figures are f64: integers beyond 2^53
 * count as the nearest f64.
 */
export interface TensorStats {
  readonly count: number
  readonly nan: number
  readonly posInf: number
  readonly negInf: number
  readonly zero: number
  readonly min: number | null
  readonly max: number | null
  readonly mean: number | null
  readonly median: number | null
  /** False when the median is the midpoint of an interval about a millionth of its size. */
  readonly medianExact: boolean
  /** The population deviation: divides by the number of values. */
  readonly std: number | null
  /**
   * Bins of equal width, including empty ones, each without its upper edge except the last. One bin if all values are equal; one per value
   * that occurs for integers within a range of 20; 0 and 1 for booleans.
   */
  readonly histogram: readonly HistogramBin[]
  readonly reason?: undefined
}

/** Why there are no statistics. */
export interface NoStats {
  readonly reason: string
}

/** The two middle values. */
type Ranks = readonly [lower: Rank, upper: Rank]

const maxBins = 65_536
const closeIntegers = 20
/** Up to this many values, sorting is faster. */
const fewValues = 16_384

export async function tensorStats(tensor: Tensor, options: StatsOptions = {}): Promise<TensorStats | NoStats> {
  const binCount = options.bins ?? 10
  if (!Number.isInteger(binCount) || binCount < 1 || binCount > maxBins) {
    failWith(usageCodes.option, { file: '', message: `${binCount} bins were requested; 1 to ${maxBins} are possible` })
  }
  const dtype = typeOf(tensor)
  const reason =
    dtype.kind === 'complex' ? 'complex numbers have no order, so no such statistics' : whyUnreadable(tensor)
  if (reason !== undefined) return { reason }
  const kind = keyKindOf(dtype)
  const payload = decodedPayload(tensor, kind === 'f32' ? 'f32' : 'f64')
  if (!payload) return { reason: `values of type ${dtype.id} cannot be decoded` }
  const { exact, signal, onProgress } = options
  const values = await openValues(payload, kind === 'f32' ? Float32Array : Float64Array, {
    count: elementsIn(tensor.shape)!,
    passes: exact ? digitsOf(kind) : 2,
    signal,
    onProgress: (done, total) => onProgress?.({ done, total, path: tensor.name }),
  })
  const few = values.all && values.all.length <= fewValues ? values.all : undefined
  const stats = few
    ? describeFew(few, dtype, binCount)
    : await describeMany(values, kind, dtype, binCount, exact ?? false)
  values.finish()
  return stats
}

function describeFew(values: Float32Array | Float64Array, dtype: DType, binCount: number): TensorStats {
  const { finite, ...counts } = sortValues(values)
  if (finite.length === 0) return { ...counts, ...nothing }
  const [min, max] = [finite[0]!, finite.at(-1)!]
  const mean = meanOfSorted(finite)
  const bins = chooseBins(dtype, min, max, binCount)
  countSorted(bins, finite)
  const median = medianOfSorted(finite)
  const std = deviationOfSorted(finite, mean)
  return { ...counts, min, max, mean, median, medianExact: true, std, histogram: listBins(bins, dtype) }
}

async function describeMany(
  values: Values,
  kind: KeyKind,
  dtype: DType,
  binCount: number,
  exact: boolean,
): Promise<TensorStats> {
  const summary = createSummary(kind)
  await values.each((window) => summarize(summary, window))
  const { count, nan, posInf, negInf, zero } = summary
  const counts = { count, nan, posInf, negInf, zero }
  if (finiteCount(summary) === 0) return { ...counts, ...nothing }

  const [min, max] = [minOf(summary), maxOf(summary)]
  const bins = chooseBins(dtype, min, max, binCount)
  const mean = meanOf(summary)
  const [lower, upper] = middleRanks(summary)
  const detail = createDetail(summary, mean, bins, [lower, upper])
  if (!topsSuffice(summary)) await values.each((window) => addDetail(detail, window))

  let ranks: Ranks = [settleRank(summary, lower, detail.lowerDigits), settleRank(summary, upper, detail.upperDigits)]
  if (exact || values.all) ranks = await finishRanks(kind, ranks, values)
  releaseCounters(summary, detail)
  return {
    ...counts,
    min,
    max,
    mean,
    median: medianOf(summary, ranks),
    medianExact: ranks.every((rank) => isComplete(kind, rank)),
    std: deviationOf(detail, finiteCount(summary)),
    histogram: listBins(bins, dtype),
  }
}

const nothing = { min: null, max: null, mean: null, median: null, medianExact: true, std: null, histogram: [] } as const

/** The type that values are decoded to: f32 where it holds all of them, which is twice as fast. */
function keyKindOf(dtype: DType): KeyKind {
  const bits = (8 * dtype.group.bytes) / dtype.group.elements
  if (dtype.kind === 'int' || dtype.kind === 'uint') {
    if (bits <= 16) return 'f32'
    if (bits <= 32) return dtype.kind === 'int' ? 'i32' : 'u32'
    return 'f64'
  }
  return dtype.kind === 'float' && bits > 32 ? 'f64' : 'f32'
}

function chooseBins(dtype: DType, min: number, max: number, count: number): Bins {
  if (dtype.kind === 'bool') return unitBins(0, 1)
  return isInteger(dtype) && max - min <= closeIntegers ? unitBins(min, max) : equalBins(min, max, count)
}

const isInteger = (dtype: DType): boolean => dtype.kind === 'int' || dtype.kind === 'uint'

function listBins(bins: Bins, dtype: DType): HistogramBin[] {
  const list = Array.from(bins.counts, (count, i) => ({ low: bins.lows[i]!, high: bins.highs[i]!, count }))
  return bins.unit && isInteger(dtype) ? list.filter(({ count }) => count > 0) : list
}

/** Adds the second digit, and the rest where only zeros remain. */
function settleRank(summary: Summary, rank: Rank, digits: DigitCounts): Rank {
  const { kind } = summary
  const next = isComplete(kind, rank) ? rank : narrow(kind, rank, digits)
  return summary.lowerDigits === 0 ? completeWithZeros(kind, next) : next
}

/** Finds the remaining digits, one per pass. */
async function finishRanks(kind: KeyKind, ranks: Ranks, values: Values): Promise<Ranks> {
  let [lower, upper] = ranks
  while (!isComplete(kind, lower) || !isComplete(kind, upper)) {
    const lowerCounts = createCounts()
    const upperCounts = haveSameDigits(lower, upper) ? lowerCounts : createCounts()
    await values.each((window) => {
      if (!isComplete(kind, lower)) countNextDigit(window as Float64Array, lower, lowerCounts)
      if (!isComplete(kind, upper) && upperCounts !== lowerCounts)
        countNextDigit(window as Float64Array, upper, upperCounts)
    })
    if (!isComplete(kind, lower)) lower = narrow(kind, lower, lowerCounts)
    if (!isComplete(kind, upper)) upper = narrow(kind, upper, upperCounts)
  }
  return [lower, upper]
}

const haveSameDigits = (a: Rank, b: Rank): boolean => a.digits.join() === b.digits.join()

function medianOf(summary: Summary, ranks: Ranks): number {
  const { kind, min, max } = summary
  const [lower, upper] = ranks.map((rank) =>
    isComplete(kind, rank) ? valueAt(kind, rank) : Math.min(Math.max(valueAt(kind, rank), min), max),
  ) as [number, number]
  return halfway(lower, upper)
}
