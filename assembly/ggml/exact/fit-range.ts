// Scales and minimums as ggml finds them, of four sub-blocks at a time; as in src/kernels/ggml/reference/fit-range.ts.
import {
  columnCodes,
  columnValues,
  columnWeights,
  fitFactors,
  fitLows,
  fitMins,
  fitScales,
  fitWeights,
} from '../memory-map'
import { kept } from '../scratch'

/** Adding 1.5 · 2^23 leaves the nearest whole number in the lower 23 bits, whatever these mean where a value is too large for them. */
const whole: f32 = 12582912

/** What the last trial sums up to, in memory. */
const sums: usize = columnCodes + 512

/**
 * Fits the sub-blocks `sub` to `sub` + 3, whose values and weights are in columns. Leaves scales and minimums, the sums of the weights, and the
 * factor and lowest value that the codes follow from: a factor of zero where all of them are zero.
 */
export function fitFourRanges(
  sub: usize,
  size: usize,
  limit: f32,
  start: f32,
  step: f32,
  last: i32,
  isAbsolute: bool,
): void {
  const end = size << 2
  const zero = f32x4.splat(0)
  let low = v128.load(columnValues)
  let high = low
  let sumW = v128.load(columnWeights)
  let sumX = f32x4.mul(sumW, low)
  for (let at: usize = 16; at < end; at += 16) {
    const value = v128.load(columnValues + at)
    const weight = v128.load(columnWeights + at)
    low = f32x4.pmin(low, value)
    high = f32x4.pmax(high, value)
    sumW = f32x4.add(sumW, weight)
    sumX = f32x4.add(sumX, f32x4.mul(weight, value))
  }
  low = v128.andnot(low, f32x4.gt(low, zero))
  const isFlat = f32x4.le(high, low)
  const lowest = low
  let factor = f32x4.div(f32x4.splat(limit), f32x4.sub(high, low))
  let scale = f32x4.div(f32x4.splat(1), factor)
  let codesLow = low
  putCodes(end, factor, low, limit)
  let least = errorOf(end, scale, low, isAbsolute)
  for (let trial = 0; trial <= last; trial++) {
    const steps: f32 = start + step * <f32>trial + limit
    const next = f32x4.div(f32x4.splat(steps), f32x4.sub(high, low))
    sumCodes(end, next, low, limit)
    const sumL = v128.load(sums)
    const sumLL = v128.load(sums, 16)
    const sumXL = v128.load(sums, 32)
    const determinant = f32x4.sub(f32x4.mul(sumW, sumLL), f32x4.mul(sumL, sumL))
    let newScale = f32x4.div(f32x4.sub(f32x4.mul(sumW, sumXL), f32x4.mul(sumX, sumL)), determinant)
    let newLow = f32x4.div(f32x4.sub(f32x4.mul(sumLL, sumX), f32x4.mul(sumL, sumXL)), determinant)
    const isAbove = f32x4.gt(newLow, zero)
    newLow = v128.andnot(newLow, isAbove)
    newScale = v128.bitselect(f32x4.div(sumXL, sumLL), newScale, isAbove)
    const error = errorOf(end, newScale, newLow, isAbsolute)
    const isBetter = v128.and(f32x4.gt(determinant, zero), f32x4.lt(error, least))
    if (!v128.any_true(isBetter)) continue
    least = v128.bitselect(error, least, isBetter)
    factor = v128.bitselect(next, factor, isBetter)
    codesLow = v128.bitselect(low, codesLow, isBetter)
    scale = v128.bitselect(newScale, scale, isBetter)
    low = v128.bitselect(newLow, low, isBetter)
  }
  const at = sub << 2
  v128.store(fitScales + at, v128.andnot(scale, isFlat))
  v128.store(fitMins + at, f32x4.neg(v128.bitselect(lowest, low, isFlat)))
  v128.store(fitFactors + at, v128.andnot(factor, isFlat))
  v128.store(fitLows + at, codesLow)
  v128.store(fitWeights + at, sumW)
}

function putCodes(end: usize, factor: v128, low: v128, limit: f32): void {
  for (let at: usize = 0; at < end; at += 16) {
    v128.store(columnCodes + at, codesOf(f32x4.mul(factor, f32x4.sub(v128.load(columnValues + at), low)), limit))
  }
}

/** Whole numbers from 0 to the limit, as f32. */
function codesOf(places: v128, limit: f32): v128 {
  const bits = v128.and(f32x4.add(places, f32x4.splat(whole)), i32x4.splat(0x7fffff))
  const nearest = i32x4.sub(bits, i32x4.splat(0x400000))
  return f32x4.convert_i32x4_s(i32x4.min_s(i32x4.max_s(nearest, i32x4.splat(0)), i32x4.splat(<i32>limit)))
}

/** The codes of a trial, and Σ weight · code, Σ weight · code², Σ weight · code · value. */
function sumCodes(end: usize, factor: v128, low: v128, limit: f32): void {
  const up = kept(f32x4.splat(whole))
  const bits = kept(i32x4.splat(0x7fffff))
  const half = kept(i32x4.splat(0x400000))
  const top = kept(i32x4.splat(<i32>limit))
  const zero = i32x4.splat(0)
  let sumL = f32x4.splat(0)
  let sumLL = sumL
  let sumXL = sumL
  for (let at: usize = 0; at < end; at += 16) {
    const value = v128.load(columnValues + at)
    const place = f32x4.mul(factor, f32x4.sub(value, low))
    const nearest = i32x4.sub(v128.and(f32x4.add(place, up), bits), half)
    const code = f32x4.convert_i32x4_s(i32x4.min_s(i32x4.max_s(nearest, zero), top))
    v128.store(columnCodes + at, code)
    const weighted = f32x4.mul(v128.load(columnWeights + at), code)
    sumL = f32x4.add(sumL, weighted)
    sumLL = f32x4.add(sumLL, f32x4.mul(weighted, code))
    sumXL = f32x4.add(sumXL, f32x4.mul(weighted, value))
  }
  v128.store(sums, sumL)
  v128.store(sums, sumLL, 16)
  v128.store(sums, sumXL, 32)
}

/** The weighted error of the codes of the last trial: of squares, or of magnitudes. */
function errorOf(end: usize, scale: v128, low: v128, isAbsolute: bool): v128 {
  let error = f32x4.splat(0)
  if (isAbsolute) {
    for (let at: usize = 0; at < end; at += 16) {
      const rest = f32x4.sub(
        f32x4.add(f32x4.mul(scale, v128.load(columnCodes + at)), low),
        v128.load(columnValues + at),
      )
      error = f32x4.add(error, f32x4.mul(v128.load(columnWeights + at), f32x4.abs(rest)))
    }
    return error
  }
  for (let at: usize = 0; at < end; at += 16) {
    const rest = f32x4.sub(f32x4.add(f32x4.mul(scale, v128.load(columnCodes + at)), low), v128.load(columnValues + at))
    error = f32x4.add(error, f32x4.mul(v128.load(columnWeights + at), f32x4.mul(rest, rest)))
  }
  return error
}
