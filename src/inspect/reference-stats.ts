// Statistics with the rounding and the signs of zero that OINF's own verifier prints.
import type { Tensor } from '../model/index.js'
import { orderedMoments } from './ordered-moments.js'
import { typeOf } from './preview.js'
import type { HistogramBin, TensorStats } from './stats.js'

/** The same statistics, with the reference's rounding where it is visible. */
export async function roundAsReference(
  tensor: Tensor,
  stats: TensorStats,
  signal: AbortSignal | undefined,
): Promise<TensorStats> {
  const infinity = onlyInfinity(stats)
  if (infinity !== undefined) return { ...stats, ...constantInfinity(infinity, stats.count) }
  const moments = await orderedMoments(tensor, stats, signal)
  const rounded = moments ? { ...stats, ...moments, ...extremesOf(stats, moments.lastZero) } : stats
  return typeOf(tensor).kind === 'float' ? { ...rounded, histogram: signZeros(rounded) } : rounded
}

/** The infinity that all values equal, if they do. */
export function onlyInfinity({ count, posInf, negInf }: TensorStats): number | undefined {
  if (count === 0) return undefined
  return posInf === count ? Number.POSITIVE_INFINITY : negInf === count ? Number.NEGATIVE_INFINITY : undefined
}

/** The reference sees one value and puts it into one bin; the deviation is a difference of infinities. */
const constantInfinity = (value: number, count: number): Partial<TensorStats> => ({
  ...{ min: value, max: value, mean: value, median: value, std: Number.NaN },
  histogram: [{ low: value, high: value, count }],
})

function extremesOf({ count, min, max, median }: TensorStats, lastZero: number | undefined): Partial<TensorStats> {
  // The two middle values are added before they are halved, and a sum of zeros is never -0.
  const isBeyond = count % 2 === 0 && Math.abs(median!) > Number.MAX_VALUE / 2
  return {
    min: min === 0 ? (lastZero ?? min) : min,
    max: max === 0 ? (lastZero ?? max) : max,
    median: isBeyond ? median! * 2 : median! + 0,
  }
}

/** An edge is the minimum plus a multiple of the step, so it is never -0. The only bin and the last edge are the extremes themselves. */
function signZeros({ histogram, min, max }: TensorStats): HistogramBin[] {
  return histogram.map(({ low, high, count }, i) => ({
    low: low === 0 ? (histogram.length === 1 ? min! : 0) : low,
    high: high === 0 && i === histogram.length - 1 ? max! : high,
    count,
  }))
}
