// The search for a signed scale of a sub-block of 16, as in src/kernels/ggml/plain/fit.ts: four trials side by side.
import { inverse, putStep } from './fit-steps'
import { f16At, putF16 } from './lanes'
import { errors, factors, gains, scales, signedSteps, triedScales, values } from './memory-map'
import { roundHalvesUp } from './rounding'
import { both } from './scratch'

/** Fits 16 scales to a block, and rounds them to steps of an f16 that is written and returned; leaves the steps in `signedSteps`. */
export function putSigned(target: usize, limit: f64, others: i32, step: f64, stepLimit: f64): f64 {
  let extreme: f64 = 0
  for (let sub: usize = 0; sub < 16; sub++) {
    const scale = fitScale(values + (sub << 7), limit, others, step)
    store<f64>(scales + (sub << 3), scale)
    if (abs(scale) > abs(extreme)) extreme = scale
  }
  const wanted = extreme / -stepLimit
  putF16(target, <f32>wanted)
  const nearest = <f64>f16At(target)
  const error = chooseSigned(nearest, stepLimit, limit)
  if (wanted === 0 || abs(wanted) >= 0.000003814697265625) return nearest
  const rounded = putStep(target, wanted)
  if (chooseSigned(rounded, stepLimit, limit) < error) return rounded
  putF16(target, <f32>wanted)
  chooseSigned(nearest, stepLimit, limit)
  return nearest
}

function fitScale(from: usize, limit: f64, others: i32, step: f64): f64 {
  const extreme = extremeOf(from)
  if (abs(extreme) < 1e-15) return 0
  const end = putFactors(extreme, limit, others, step)
  let best: f64 = 0
  let bestGain: f64 = 0
  for (let trial: usize = 0; trial < end; trial += 32) {
    tryFour(from, limit, trial)
    for (let at: usize = 0; at < 32; at += 8) {
      const gain = load<f64>(gains + at)
      // Trials that differ by less are equal, and the first of them wins.
      if (!(gain > bestGain * (1 + 1e-9))) continue
      bestGain = gain
      best = load<f64>(triedScales + at)
    }
  }
  return best
}

/** The obvious scale first, then those around it. Filled up to whole fours with the first, which so never wins again. Returns the end of the list. */
function putFactors(extreme: f64, limit: f64, others: i32, step: f64): usize {
  const first = -limit / extreme
  store<f64>(factors, first)
  const half = others / 2
  for (let trial = 1; trial <= others; trial++) {
    const apart = step * <f64>(trial <= half ? trial - half - 1 : trial - half)
    store<f64>(factors + ((<usize>trial) << 3), -(limit + apart) / extreme)
  }
  let end: usize = (<usize>others + 1) << 3
  for (; end & 31; end += 8) store<f64>(factors + end, first)
  return end
}

/** The first value with the largest magnitude. */
function extremeOf(values: usize): f64 {
  let maxima = f64x2.abs(v128.load(values))
  for (let at: usize = 16; at < 128; at += 16) maxima = f64x2.pmax(maxima, f64x2.abs(v128.load(values + at)))
  const largest = max(f64x2.extract_lane(maxima, 0), f64x2.extract_lane(maxima, 1))
  while (abs(load<f64>(values)) !== largest) values += 8
  return load<f64>(values)
}

function tryFour(from: usize, limit: f64, trial: usize): void {
  const middle = both(limit)
  const top = both(2 * limit - 1)
  const half = both(0.5)
  const zero = both(0)
  const factorA = v128.load(factors + trial)
  const factorB = v128.load(factors + trial, 16)
  let llA = zero
  let llB = zero
  let xlA = zero
  let xlB = zero
  for (let at = from; at < from + 128; at += 8) {
    const value = v128.load64_splat(at)
    // Shifted by the limit nothing is negative, except below the lowest code.
    const placeA = f64x2.add(f64x2.add(f64x2.mul(factorA, value), middle), half)
    const placeB = f64x2.add(f64x2.add(f64x2.mul(factorB, value), middle), half)
    const codeA = f64x2.sub(f64x2.trunc(f64x2.pmin(f64x2.pmax(placeA, zero), top)), middle)
    const codeB = f64x2.sub(f64x2.trunc(f64x2.pmin(f64x2.pmax(placeB, zero), top)), middle)
    xlA = f64x2.add(xlA, f64x2.mul(codeA, value))
    xlB = f64x2.add(xlB, f64x2.mul(codeB, value))
    llA = f64x2.add(llA, f64x2.mul(codeA, codeA))
    llB = f64x2.add(llB, f64x2.mul(codeB, codeB))
  }
  solve(xlA, llA, 0)
  solve(xlB, llB, 16)
}

/** The best scale for the codes of two trials, and its gain. */
function solve(xl: v128, ll: v128, at: usize): void {
  const scale = f64x2.div(xl, ll)
  v128.store(triedScales + at, scale)
  v128.store(gains + at, v128.and(f64x2.mul(scale, xl), f64x2.gt(ll, f64x2.splat(0))))
}

/** The steps nearest to each scale, or their neighbours where these have less error. Returns the error of the block. */
function chooseSigned(d: f64, stepLimit: f64, limit: f64): f64 {
  let total: f64 = 0
  for (let sub: usize = 0; sub < 16; sub++) {
    const scale = load<f64>(scales + (sub << 3))
    const nearest = d === 0 ? 0 : max(-stepLimit, min(stepLimit - 1, roundHalvesUp(scale / d)))
    const below = max(-stepLimit, nearest - 1)
    const above = min(stepLimit - 1, nearest + 1)
    findErrors(values + (sub << 7), d, nearest, below, above, limit)
    let best = nearest
    let minError = load<f64>(errors)
    if (load<f64>(errors, 8) < minError) {
      minError = load<f64>(errors, 8)
      best = below
    }
    if (load<f64>(errors, 16) < minError) {
      minError = load<f64>(errors, 16)
      best = above
    }
    store<i16>(signedSteps + (sub << 1), <i16>(<i32>best))
    total += minError
  }
  return total
}

/** The squared rounding errors under three numbers of steps. */
function findErrors(from: usize, d: f64, a: f64, b: f64, c: f64, limit: f64): void {
  const step = f64x2.splat(d)
  const scaleA = f64x2.mul(step, f64x2.replace_lane(f64x2.splat(a), 1, b))
  const scaleB = f64x2.mul(step, f64x2.splat(c))
  const factorA = inverse(scaleA)
  const factorB = inverse(scaleB)
  const middle = both(limit)
  const top = both(2 * limit - 1)
  const half = both(0.5)
  const zero = both(0)
  let errorA = zero
  let errorB = zero
  for (let at = from; at < from + 128; at += 8) {
    const value = v128.load64_splat(at)
    const placeA = f64x2.add(f64x2.add(f64x2.mul(value, factorA), middle), half)
    const placeB = f64x2.add(f64x2.add(f64x2.mul(value, factorB), middle), half)
    const codeA = f64x2.sub(f64x2.trunc(f64x2.pmin(f64x2.pmax(placeA, zero), top)), middle)
    const codeB = f64x2.sub(f64x2.trunc(f64x2.pmin(f64x2.pmax(placeB, zero), top)), middle)
    const restA = f64x2.sub(value, f64x2.mul(scaleA, codeA))
    const restB = f64x2.sub(value, f64x2.mul(scaleB, codeB))
    errorA = f64x2.add(errorA, f64x2.mul(restA, restA))
    errorB = f64x2.add(errorB, f64x2.mul(restB, restB))
  }
  v128.store(errors, errorA)
  v128.store(errors, errorB, 16)
}
