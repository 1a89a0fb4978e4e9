// The search for a scale and a minimum of a sub-block, as in src/kernels/ggml/plain/fit.ts. Trials are independent, so four of them run
// side by side; each sums in the order of the plain code.
import { factors, gains, triedOffsets, triedScales } from './memory-map'
import { toInt32 } from './rounding'
import { both, toShifted } from './scratch'

/** The result of `fitScaleAndMin`. */
export let scale: f64 = 0
export let min: f64 = 0
/** The squared error that remains, and a little for what rounding always leaves. */
export let error: f64 = 0

/** Of the sub-block: its range, extended down to zero; the number of its values, and their sum. */
let low: f64 = 0
let high: f64 = 0
let count: f64 = 0
let sumX: f64 = 0
let sumXX: f64 = 0
/** Of a trial. */
let sumL: f64 = 0
let sumLL: f64 = 0
let sumXL: f64 = 0
let gain: f64 = 0
let triedScale: f64 = 0
let triedOffset: f64 = 0

export function fitScaleAndMin(
  values: usize,
  end: usize,
  limit: f64,
  start: f64,
  step: f64,
  last: i32,
  quarters: i32,
): void {
  findSums(values, end)
  scale = 0
  min = -low
  error = sumXX * 1e-7
  if (!(high > low)) return
  scale = (high - low) / limit
  for (let at = values; at < end; at += 16) {
    v128.store(at, f64x2.sub(v128.load(at), f64x2.splat(low)), toShifted)
  }
  for (let trial = 0; trial <= last; trial++) {
    store<f64>(factors + ((<usize>trial) << 3), (limit + start + step * <f64>trial) / (high - low))
  }
  let bestGain: f64 = -Infinity
  let needed = bestGain
  for (let trial: i32 = 0; trial < last; trial += 4) {
    tryFour(values, end, limit, (<usize>trial) << 3)
    for (let at: usize = 0; at < 32; at += 8) {
      const found = load<f64>(gains + at)
      if (found <= needed) continue
      bestGain = found
      needed = bestGain + abs(bestGain) * 1e-9
      scale = load<f64>(triedScales + at)
      min = -load<f64>(triedOffsets + at)
    }
  }
  if ((last & 3) === 0) {
    tryOne(values, end, limit, load<f64>(factors + ((<usize>last) << 3)), low)
    if (solve() && !(gain <= needed)) {
      bestGain = gain
      needed = bestGain + abs(bestGain) * 1e-9
      scale = triedScale
      min = -triedOffset
    }
  }
  // One value stretches the steps until the others take two or three codes, and where these lie decides about the error.
  const isStretched = (high - low) * (high - low) > sumXX - (sumX * sumX) / count
  for (let quarter = -quarters; isStretched && quarter <= quarters; quarter++) {
    if (quarter === 0) continue
    for (let trial = 0; trial <= last; trial += 4) {
      const factor = load<f64>(factors + ((<usize>trial) << 3))
      tryOne(values, end, limit, factor, low + <f64>quarter / (4 * factor))
      if (!solve() || gain <= needed) continue
      bestGain = gain
      needed = bestGain + abs(bestGain) * 1e-9
      scale = triedScale
      min = -triedOffset
    }
  }
  // Better codes for the scale and minimum found, better scale and minimum for these, until nothing improves.
  for (let round = 0; round < 4; round++) {
    const factor = 1 / scale
    const top = factor * (high + min) + 0.5
    const bottom = factor * (low + min) + 0.5
    if (top < 2147483647 && bottom > -2147483648) tryOne(values, end, limit, factor, -min)
    else tryFar(values, end, limit, factor, -min)
    if (!solve() || gain <= bestGain + abs(bestGain) * 1e-9) break
    bestGain = gain
    scale = triedScale
    min = -triedOffset
  }
  error += max<f64>(0, sumXX - bestGain)
}

/** The range and the sums that do not depend on codes. */
function findSums(values: usize, end: usize): void {
  let lows = f64x2.splat(0)
  let highs = v128.load64_splat(values)
  sumX = 0
  sumXX = 0
  for (let at = values; at < end; at += 16) {
    const value = v128.load(at)
    const squared = f64x2.mul(value, value)
    lows = f64x2.pmin(lows, value)
    highs = f64x2.pmax(highs, value)
    sumX += f64x2.extract_lane(value, 0)
    sumX += f64x2.extract_lane(value, 1)
    sumXX += f64x2.extract_lane(squared, 0)
    sumXX += f64x2.extract_lane(squared, 1)
  }
  count = <f64>(<i32>((end - values) >> 3))
  low = f64x2.extract_lane(f64x2.pmin(lows, i64x2.shuffle(lows, lows, 1, 0)), 0)
  high = f64x2.extract_lane(f64x2.pmax(highs, i64x2.shuffle(highs, highs, 1, 0)), 0)
}

/** Four trials. No place is below zero or far above the limit. */
function tryFour(values: usize, end: usize, limit: f64, trial: usize): void {
  const top = both(limit)
  const half = both(0.5)
  const factorA = v128.load(factors + trial)
  const factorB = v128.load(factors + trial, 16)
  let lA = f64x2.splat(0)
  let lB = lA
  let llA = lA
  let llB = lA
  let xlA = lA
  let xlB = lA
  for (let at = values; at < end; at += 8) {
    const above = v128.load64_splat(at, toShifted)
    const codeA = f64x2.trunc(f64x2.pmin(f64x2.add(f64x2.mul(factorA, above), half), top))
    const codeB = f64x2.trunc(f64x2.pmin(f64x2.add(f64x2.mul(factorB, above), half), top))
    const value = v128.load64_splat(at)
    lA = f64x2.add(lA, codeA)
    lB = f64x2.add(lB, codeB)
    llA = f64x2.add(llA, f64x2.mul(codeA, codeA))
    llB = f64x2.add(llB, f64x2.mul(codeB, codeB))
    xlA = f64x2.add(xlA, f64x2.mul(codeA, value))
    xlB = f64x2.add(xlB, f64x2.mul(codeB, value))
  }
  solveTwo(lA, llA, xlA, 0)
  solveTwo(lB, llB, xlB, 16)
}

/** The sums of one trial. Codes are computed in pairs and added one after the other. */
function tryOne(values: usize, end: usize, limit: f64, factor: f64, low: f64): void {
  const top = both(limit)
  const half = both(0.5)
  const zero = both(0)
  const times = f64x2.splat(factor)
  const less = f64x2.splat(low)
  let l = zero
  let xl = zero
  for (let at = values; at < end; at += 16) {
    const value = v128.load(at)
    const place = f64x2.add(f64x2.mul(times, f64x2.sub(value, less)), half)
    const code = f64x2.trunc(f64x2.pmin(f64x2.pmax(place, zero), top))
    const squared = f64x2.mul(code, code)
    const product = f64x2.mul(code, value)
    l = f64x2.add(l, i64x2.shuffle(code, squared, 0, 2))
    l = f64x2.add(l, i64x2.shuffle(code, squared, 1, 3))
    xl = f64x2.add(xl, product)
    xl = f64x2.add(xl, i64x2.shuffle(product, product, 1, 0))
  }
  sumL = f64x2.extract_lane(l, 0)
  sumLL = f64x2.extract_lane(l, 1)
  sumXL = f64x2.extract_lane(xl, 0)
}

/** The same where a scale is so small that codes exceed 32 bits: the plain code wraps around there. */
function tryFar(values: usize, end: usize, limit: f64, factor: f64, low: f64): void {
  sumL = 0
  sumLL = 0
  sumXL = 0
  for (let at = values; at < end; at += 8) {
    const value = load<f64>(at)
    const whole = <f64>toInt32(factor * (value - low) + 0.5)
    const code = whole < 0 ? 0 : whole > limit ? limit : whole
    sumL += code
    sumLL += code * code
    sumXL += code * value
  }
}

/** The best scale and offset for the codes of a trial. False when these determine neither. */
function solve(): bool {
  const determinant = count * sumLL - sumL * sumL
  triedScale = (count * sumXL - sumX * sumL) / determinant
  triedOffset = (sumLL * sumX - sumL * sumXL) / determinant
  // Codes that are all the same determine one of the two.
  if (!(determinant > 0) || triedOffset > 0) {
    triedOffset = 0
    triedScale = sumXL / sumLL
  }
  gain = triedScale * sumXL + triedOffset * sumX
  return triedScale > 0
}

/** The same for two trials side by side; a trial that fails gets a gain of −∞. */
function solveTwo(l: v128, ll: v128, xl: v128, at: usize): void {
  const w = f64x2.splat(count)
  const x = f64x2.splat(sumX)
  const zero = f64x2.splat(0)
  const determinant = f64x2.sub(f64x2.mul(w, ll), f64x2.mul(l, l))
  let steps = f64x2.div(f64x2.sub(f64x2.mul(w, xl), f64x2.mul(x, l)), determinant)
  let offset = f64x2.div(f64x2.sub(f64x2.mul(ll, x), f64x2.mul(l, xl)), determinant)
  const isOne = v128.not(f64x2.gt(determinant, zero))
  const isAbove = v128.or(isOne, f64x2.gt(offset, zero))
  if (v128.any_true(isAbove)) {
    offset = v128.andnot(offset, isAbove)
    steps = v128.bitselect(f64x2.div(xl, ll), steps, isAbove)
  }
  const isGood = f64x2.gt(steps, zero)
  const found = f64x2.add(f64x2.mul(steps, xl), f64x2.mul(offset, x))
  v128.store(triedScales + at, steps)
  v128.store(triedOffsets + at, offset)
  v128.store(gains + at, v128.bitselect(found, f64x2.splat(-Infinity), isGood))
}
