// A histogram is a list of ascending lower ends: a value belongs to the last bin that does not start above it.
import { scaleFor } from './sum.js'

export interface Bins {
  readonly lows: Float64Array
  readonly highs: Float64Array
  readonly counts: Float64Array
  /** Each bin is one whole number. */
  readonly unit: boolean
  /** (x · scale − origin) · density is a bin's index or close to it. */
  readonly scale: number
  readonly origin: number
  readonly density: number
}

/**
 * `count` bins of equal width from `min` to `max`. Edge i is min + i · step; the last edge is `max` itself and belongs to the last bin.
 * One bin when all values are equal.
 */
export function equalBins(min: number, max: number, count: number): Bins {
  if (min === max) return makeBins(Float64Array.of(min), Float64Array.of(max), max)
  const range = max - min
  const step = range / count
  const edges = new Float64Array(count + 1)
  for (let i = 0; i < count; i++) {
    let edge = min + i * step
    if (range === Infinity) edge = 2 * (min / 2 + i * ((max / 2 - min / 2) / count))
    else if (step < 2 ** -1022) edge = min + (i / count) * range // the step itself has lost its precision
    edges[i] = Math.min(edge, max)
  }
  edges[count] = max
  return makeBins(edges.slice(0, count), edges.slice(1), max)
}

/** One bin for each whole number from `min` to `max`. */
export function unitBins(min: number, max: number): Bins {
  const lows = Float64Array.from({ length: max - min + 1 }, (_, i) => min + i)
  return makeBins(lows, lows, max + 1)
}

function makeBins(lows: Float64Array, highs: Float64Array, end: number): Bins {
  const count = lows.length
  const min = lows[0]!
  const scale = scaleFor(min, end)
  const origin = min * scale
  const range = end * scale - origin
  return {
    lows,
    highs,
    counts: new Float64Array(count),
    unit: lows === highs,
    scale,
    origin,
    density: range > 0 ? count / range : 0,
  }
}

/** The bin of a value that is not below the first bin. */
export function binOf(bins: Bins, x: number): number {
  const { lows } = bins
  const last = lows.length - 1
  const guess = Math.min(((x * bins.scale - bins.origin) * bins.density) | 0, last)
  if (lows[guess]! <= x && (guess === last || lows[guess + 1]! > x)) return guess
  return bisect(lows, x)
}

function bisect(lows: Float64Array, x: number): number {
  let low = 0
  let high = lows.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (lows[middle]! <= x) low = middle
    else high = middle - 1
  }
  return low
}
