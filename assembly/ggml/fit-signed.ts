// The search for a signed scale of a sub-block of 16, as in src/kernels/ggml/plain/fit.ts: four trials side by side.
import { factors, gains, scales, triedScales } from './memory-map'
import { roundHalvesUp } from './rounding'
import { both, toWeight } from './scratch'

/** Fits 16 scales to a block; returns the one with the largest magnitude. */
export function fitSigned(values: usize, limit: f64): f64 {
  let extreme: f64 = 0
  for (let sub: usize = 0; sub < 16; sub++) {
    const scale = fitScale(values + (sub << 7), limit)
    store<f64>(scales + (sub << 3), scale)
    if (abs(scale) > abs(extreme)) extreme = scale
  }
  return extreme
}

function fitScale(values: usize, limit: f64): f64 {
  const extreme = extremeOf(values)
  if (abs(extreme) < 1e-15) return 0
  putFactors(extreme, limit)
  // The square of a value is its weight.
  for (let at = values; at < values + 128; at += 16) {
    const two = v128.load(at)
    v128.store(at, f64x2.mul(two, two), toWeight)
  }
  let best: f64 = 0
  let bestGain: f64 = 0
  for (let trial: usize = 0; trial < 160; trial += 32) {
    tryFour(values, limit, trial)
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

/** The obvious scale first, then in tenths around it. The twentieth repeats the first and so never wins. */
function putFactors(extreme: f64, limit: f64): void {
  const first = -limit / extreme
  store<f64>(factors, first)
  store<f64>(factors, first, 152)
  for (let trial = 1; trial < 19; trial++) {
    const tenths = 0.1 * <f64>(trial < 10 ? trial - 10 : trial - 9)
    store<f64>(factors + ((<usize>trial) << 3), -(limit + tenths) / extreme)
  }
}

/** The first value with the largest magnitude. */
function extremeOf(values: usize): f64 {
  let maxima = f64x2.abs(v128.load(values))
  for (let at: usize = 16; at < 128; at += 16) maxima = f64x2.pmax(maxima, f64x2.abs(v128.load(values + at)))
  const largest = max(f64x2.extract_lane(maxima, 0), f64x2.extract_lane(maxima, 1))
  while (abs(load<f64>(values)) !== largest) values += 8
  return load<f64>(values)
}

function tryFour(values: usize, limit: f64, trial: usize): void {
  const middle = both(limit)
  const top = both(limit - 1)
  const half = both(0.5)
  const factorA = v128.load(factors + trial)
  const factorB = v128.load(factors + trial, 16)
  let llA = f64x2.splat(0)
  let llB = llA
  let xlA = llA
  let xlB = llA
  for (let at = values; at < values + 128; at += 8) {
    const value = v128.load64_splat(at)
    const weight = v128.load64_splat(at, toWeight)
    // Shifted by the limit nothing is negative, so truncation rounds to nearest.
    const placeA = f64x2.add(f64x2.add(f64x2.mul(factorA, value), middle), half)
    const placeB = f64x2.add(f64x2.add(f64x2.mul(factorB, value), middle), half)
    const codeA = f64x2.pmin(f64x2.sub(f64x2.trunc(placeA), middle), top)
    const codeB = f64x2.pmin(f64x2.sub(f64x2.trunc(placeB), middle), top)
    const weightedA = f64x2.mul(weight, codeA)
    const weightedB = f64x2.mul(weight, codeB)
    xlA = f64x2.add(xlA, f64x2.mul(weightedA, value))
    xlB = f64x2.add(xlB, f64x2.mul(weightedB, value))
    llA = f64x2.add(llA, f64x2.mul(weightedA, codeA))
    llB = f64x2.add(llB, f64x2.mul(weightedB, codeB))
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

/** Whole steps from -limit to limit - 1. */
export function signedSteps(scale: f64, step: f64, limit: f64): f64 {
  return step === 0 ? 0 : max(-limit, min(limit - 1, roundHalvesUp(scale / step)))
}
