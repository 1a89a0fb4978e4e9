// Signed scales as ggml finds them; as in src/kernels/ggml/reference/fit-signed.ts. The lanes are trials.
import { extremeOf } from '../encode-legacy'
import { signedTrials } from '../memory-map'
import { kept } from '../scratch'

const whole: f32 = 12582912
const negligible: f32 = 1e-15
/** The squares of the values. */
const squares: usize = signedTrials + 288

/** Of the last fit: whether there was anything to fit, and the factor that codes follow from. */
export let isFitted = false
export let signedFactor: f32 = 0

/**
 * The scale of values with codes from -limit to limit - 1, and the factor of its codes. Without weights (0), the squares of the values serve.
 * The obvious factor is tried first, then eighteen in tenths around it.
 */
export function fitSigned(values: usize, size: usize, limit: f32, weights: usize): f32 {
  return fitToExtreme(values, size, limit, weights, extremeOf(values, size))
}

/** The same where the extreme value is known. Values may be infinite or NaN, as the scales are that huge weights lead to. */
export function fitToExtreme(values: usize, size: usize, limit: f32, weights: usize, extreme: f32): f32 {
  isFitted = !(abs(extreme) < negligible)
  if (!isFitted) return 0
  const tenth: f32 = 0.1
  for (let trial = 0; trial < 24; trial++) {
    const tenths = trial === 0 ? 0 : trial < 10 ? trial - 10 : trial - 9
    store<f32>(signedTrials + 4 * <usize>trial, -(limit + tenth * <f32>tenths) / extreme)
  }
  if (!weights) {
    weights = squares
    for (let i: usize = 0; i < size; i += 16) {
      const value = v128.load(values + i)
      v128.store(squares + i, f32x4.mul(value, value))
    }
  }
  for (let at: usize = 0; at < 96; at += 32) tryEight(signedTrials + at, values, weights, size, limit)
  let scale: f32 = 0
  let best: f32 = 0
  for (let at: usize = 0; at < 76; at += 4) {
    const product = load<f32>(signedTrials + at, 96)
    const square = load<f32>(signedTrials + at, 192)
    if (at > 0 && !(square > 0 && product * product > best * square)) continue
    scale = square === 0 ? 0 : product / square
    best = scale * product
    signedFactor = load<f32>(signedTrials + at)
  }
  return scale
}

/** For eight factors Σ weight · value · code and Σ weight · code². */
function tryEight(from: usize, values: usize, weights: usize, size: usize, limit: f32): void {
  const bottom = kept(i32x4.splat(<i32>-limit))
  const top = kept(i32x4.splat(<i32>limit - 1))
  const up = kept(f32x4.splat(whole))
  const bits = kept(i32x4.splat(0x7fffff))
  const half = kept(i32x4.splat(0x400000))
  const factorA = v128.load(from)
  const factorB = v128.load(from, 16)
  let xlA = f32x4.splat(0)
  let xlB = xlA
  let llA = xlA
  let llB = xlA
  for (let at: usize = 0; at < size; at += 4) {
    const value = v128.load32_splat(values + at)
    const weight = v128.load32_splat(weights + at)
    const product = f32x4.mul(weight, value)
    const wholeA = i32x4.sub(v128.and(f32x4.add(f32x4.mul(factorA, value), up), bits), half)
    const wholeB = i32x4.sub(v128.and(f32x4.add(f32x4.mul(factorB, value), up), bits), half)
    const codeA = f32x4.convert_i32x4_s(i32x4.min_s(i32x4.max_s(wholeA, bottom), top))
    const codeB = f32x4.convert_i32x4_s(i32x4.min_s(i32x4.max_s(wholeB, bottom), top))
    xlA = f32x4.add(xlA, f32x4.mul(product, codeA))
    xlB = f32x4.add(xlB, f32x4.mul(product, codeB))
    llA = f32x4.add(llA, f32x4.mul(f32x4.mul(weight, codeA), codeA))
    llB = f32x4.add(llB, f32x4.mul(f32x4.mul(weight, codeB), codeB))
  }
  v128.store(from, xlA, 96)
  v128.store(from, xlB, 112)
  v128.store(from, llA, 192)
  v128.store(from, llB, 208)
}
