// Scales and minimums as whole steps of a number that the block stores as f16.
import { f16At, putF16 } from './lanes'
import { errors, fitErrors, minSteps, mins, scaleSteps, scales } from './memory-map'
import { roundHalvesUp, toInt32 } from './rounding'
import { both } from './scratch'

/** Writes the f16 step; returns it as a reader will see it. The smallest f16 are coarse, and round away from zero. */
export function putStep(at: usize, value: f64): f64 {
  const isCoarse = value !== 0 && abs(value) < 0.00006103515625
  putF16(at, <f32>(isCoarse ? copysign(ceil(abs(value) * 16777216) / 16777216, value) : value))
  return <f64>f16At(at)
}

export function largestOf(list: usize, count: usize): f64 {
  let largest: f64 = 0
  for (let at = list; at < list + (count << 3); at += 8) if (load<f64>(at) > largest) largest = load<f64>(at)
  return largest
}

function stepsOf(value: f64, step: f64, limit: i32): i32 {
  if (!(step > 0 && value > 0)) return 0
  const steps = roundHalvesUp(value / step)
  return steps < <f64>limit ? <i32>steps : limit
}

/** The steps with the least error among the nearest and their neighbours; where steps are coarse for a sub-block, among all scales. */
export function chooseSteps(
  values: usize,
  end: usize,
  sub: usize,
  d: f64,
  dmin: f64,
  stepLimit: i32,
  codeLimit: i32,
): void {
  const scale = stepsOf(load<f64>(scales + (sub << 3)), d, stepLimit)
  const min = stepsOf(load<f64>(mins + (sub << 3)), dmin, stepLimit)
  store<u8>(scaleSteps + sub, scale)
  store<u8>(minSteps + sub, min)
  if (d === 0) return
  let error = chooseAround(values, end, sub, d, dmin, scale, min, stepLimit, codeLimit, Infinity)
  if (!(error > 2 * load<f64>(fitErrors + (sub << 3)))) return
  for (let near = 1; near <= stepLimit; near += 4) {
    error = chooseAround(values, end, sub, d, dmin, near, min, stepLimit, codeLimit, error)
  }
}

/** Takes the steps around these if they have less error than there was before; returns the error. */
function chooseAround(
  values: usize,
  end: usize,
  sub: usize,
  d: f64,
  dmin: f64,
  scale: i32,
  min: i32,
  stepLimit: i32,
  codeLimit: i32,
  before: f64,
): f64 {
  const lowest = max(0, min - 1)
  const highest = dmin === 0 ? 0 : min + 1 < stepLimit ? min + 1 : stepLimit
  // The smallest scale that is not zero gives the largest codes.
  const isFar = !((largestMagnitude(values, end) + dmin * <f64>highest) / d < 2147483000)
  const scaleA = f64x2.mul(f64x2.splat(d), f64x2.replace_lane(f64x2.splat(<f64>scale), 0, <f64>max(0, scale - 1)))
  const scaleB = f64x2.mul(f64x2.splat(d), f64x2.replace_lane(f64x2.splat(<f64>(scale + 2)), 0, <f64>(scale + 1)))
  const factorA = inverse(scaleA)
  const factorB = inverse(scaleB)
  let found = errors
  for (let b = lowest; b <= highest; b++, found += 32) {
    const shift = dmin * <f64>b
    if (isFar) findFarErrors(values, end, scaleA, scaleB, shift, codeLimit, found)
    else findErrors(values, end, scaleA, scaleB, factorA, factorB, f64x2.splat(shift), <f64>codeLimit, found)
  }
  let minError = before
  for (let a = scale === 0 ? 1 : 0; a < 4 && scale - 1 + a <= stepLimit; a++) {
    for (let b = lowest; b <= highest; b++) {
      const error = load<f64>(errors + ((<usize>(b - lowest)) << 5) + ((<usize>a) << 3))
      if (error >= minError) continue
      minError = error
      store<u8>(scaleSteps + sub, scale - 1 + a)
      store<u8>(minSteps + sub, b)
    }
  }
  return minError
}

function largestMagnitude(values: usize, end: usize): f64 {
  let maxima = f64x2.splat(0)
  for (let at = values; at < end; at += 16) maxima = f64x2.pmax(maxima, f64x2.abs(v128.load(at)))
  return f64x2.extract_lane(f64x2.pmax(maxima, i64x2.shuffle(maxima, maxima, 1, 0)), 0)
}

/** Zero where there is no scale. */
export function inverse(scale: v128): v128 {
  return v128.and(f64x2.div(f64x2.splat(1), scale), f64x2.ne(scale, f64x2.splat(0)))
}

/** The squared rounding errors under each of four scales. */
function findErrors(
  values: usize,
  end: usize,
  scaleA: v128,
  scaleB: v128,
  factorA: v128,
  factorB: v128,
  shift: v128,
  limit: f64,
  found: usize,
): void {
  const top = both(limit)
  const half = both(0.5)
  const zero = f64x2.splat(0)
  let errorA = zero
  let errorB = zero
  for (let at = values; at < end; at += 8) {
    const value = f64x2.add(v128.load64_splat(at), shift)
    const placeA = f64x2.add(f64x2.mul(value, factorA), half)
    const placeB = f64x2.add(f64x2.mul(value, factorB), half)
    const codeA = f64x2.trunc(f64x2.pmin(f64x2.pmax(placeA, zero), top))
    const codeB = f64x2.trunc(f64x2.pmin(f64x2.pmax(placeB, zero), top))
    const restA = f64x2.sub(value, f64x2.mul(scaleA, codeA))
    const restB = f64x2.sub(value, f64x2.mul(scaleB, codeB))
    errorA = f64x2.add(errorA, f64x2.mul(restA, restA))
    errorB = f64x2.add(errorB, f64x2.mul(restB, restB))
  }
  v128.store(found, errorA)
  v128.store(found, errorB, 16)
}

/** The same where codes exceed 32 bits: the plain code wraps around there. */
function findFarErrors(
  values: usize,
  end: usize,
  scaleA: v128,
  scaleB: v128,
  min: f64,
  limit: i32,
  found: usize,
): void {
  v128.store(found, scaleA)
  v128.store(found, scaleB, 16)
  for (let at = found; at < found + 32; at += 8) store<f64>(at, farError(values, end, load<f64>(at), min, limit))
}

function farError(values: usize, end: usize, scale: f64, min: f64, limit: i32): f64 {
  const factor = scale === 0 ? 0 : 1 / scale
  let error: f64 = 0
  for (let at = values; at < end; at += 8) {
    const value = load<f64>(at) + min
    const code = toInt32(value * factor + 0.5)
    const rest = value - scale * <f64>(code < 0 ? 0 : code > limit ? limit : code)
    error += rest * rest
  }
  return error
}
