// The search for a signed scale of a sub-block of 16, as in src/kernels/ggml/plain/fit-signed.ts: the lanes are trials, eight side by side.
import { extremeOf } from './encode-legacy'
import { putStep } from './fit-steps'
import { f16At, putF16 } from './lanes'
import { codes, errors, factors, scales, signedSteps, values } from './memory-map'
import { kept } from './scratch'

/** Adding and subtracting 1.5 · 2^23 rounds to a whole number, halves to even. */
const whole: f32 = 12582912

/** Writes the factors to try: the limit first, which wins where others are as good, then those below and above it. */
export function putFactors(limit: f64, count: i32, step: f64): void {
  const below = count / 2 - 1
  for (let i = 0; i < count; i++) {
    const apart = i === 0 ? 0 : i <= below ? i - below - 1 : i - below
    store<f32>(factors + ((<usize>i) << 2), <f32>(limit + step * <f64>apart))
  }
}

/** Fits 16 scales to a block and rounds them to steps of an f16, which is written; leaves the steps in `signedSteps` and the codes in `codes`. */
export function putSigned(source: usize, target: usize, limit: f32, trials: usize, stepLimit: f32): void {
  let extreme: f32 = 0
  for (let sub: usize = 0; sub < 16; sub++) {
    const scale = fitScale(source + (sub << 6), limit, trials)
    store<f32>(scales + (sub << 2), scale)
    if (abs(scale) > abs(extreme)) extreme = scale
  }
  const wanted = extreme / -stepLimit
  putF16(target, wanted)
  const nearest = f16At(target)
  const error = chooseSigned(source, nearest, stepLimit, limit)
  if (wanted === 0 || abs(wanted) >= 0.000003814697265625) return
  const rounded = <f32>putStep(target, <f64>wanted)
  if (chooseSigned(source, rounded, stepLimit, limit) < error) return
  putF16(target, wanted)
  chooseSigned(source, nearest, stepLimit, limit)
}

function fitScale(source: usize, limit: f32, trials: usize): f32 {
  const extreme = extremeOf(source, 64)
  if (abs(extreme) < <f32>1e-15) return 0
  divideBy(source, -extreme, values)
  let best: f32 = 0
  let bestGain: f32 = 0
  for (let at = factors; at < factors + (trials << 2); at += 32) {
    tryEight(at, limit)
    for (let i: usize = 0; i < 32; i += 4) {
      const gain = load<f32>(errors + i)
      if (!(gain > bestGain * <f32>1.000001)) continue
      bestGain = gain
      best = load<f32>(errors + i, 32)
    }
  }
  return best * -extreme
}

function divideBy(source: usize, divisor: f32, target: usize): void {
  const by = f32x4.splat(divisor)
  v128.store(target, f32x4.div(v128.load(source), by))
  v128.store(target, f32x4.div(v128.load(source, 16), by), 16)
  v128.store(target, f32x4.div(v128.load(source, 32), by), 32)
  v128.store(target, f32x4.div(v128.load(source, 48), by), 48)
}

/** For each of eight factors the best scale for the codes that it gives, and what that takes from the sum of squares. */
function tryEight(from: usize, limit: f32): void {
  const bottom = kept(f32x4.splat(-limit))
  const top = kept(f32x4.splat(limit - 1))
  const up = kept(f32x4.splat(whole))
  const factorA = v128.load(from)
  const factorB = v128.load(from, 16)
  let xlA = f32x4.splat(0)
  let xlB = xlA
  let llA = xlA
  let llB = xlA
  for (let at = values; at < values + 64; at += 4) {
    const value = v128.load32_splat(at)
    const wholeA = f32x4.sub(f32x4.add(f32x4.mul(factorA, value), up), up)
    const wholeB = f32x4.sub(f32x4.add(f32x4.mul(factorB, value), up), up)
    const codeA = f32x4.pmin(f32x4.pmax(wholeA, bottom), top)
    const codeB = f32x4.pmin(f32x4.pmax(wholeB, bottom), top)
    xlA = f32x4.add(xlA, f32x4.mul(codeA, value))
    xlB = f32x4.add(xlB, f32x4.mul(codeB, value))
    llA = f32x4.add(llA, f32x4.mul(codeA, codeA))
    llB = f32x4.add(llB, f32x4.mul(codeB, codeB))
  }
  // The extreme value has a code other than zero, so the sums of squares are positive.
  const scaleA = f32x4.div(xlA, llA)
  const scaleB = f32x4.div(xlB, llB)
  v128.store(errors, f32x4.mul(scaleA, xlA))
  v128.store(errors, f32x4.mul(scaleB, xlB), 16)
  v128.store(errors, scaleA, 32)
  v128.store(errors, scaleB, 48)
}

/** The steps nearest to each scale, or their neighbours where these have less error. Returns the error of the block. */
function chooseSigned(source: usize, d: f32, stepLimit: f32, limit: f32): f64 {
  if (d === 0) {
    memory.fill(signedSteps, 0, 32)
    memory.fill(codes, <u8>limit, 256)
    return Infinity
  }
  let total: f64 = 0
  for (let sub: usize = 0; sub < 16; sub++) {
    divideBy(source + (sub << 6), d, values)
    const wanted = load<f32>(scales + (sub << 2)) / d
    const nearest = max(-stepLimit, min(stepLimit - 1, wanted + whole - whole))
    const below = max(-stepLimit, nearest - 1)
    const above = min(stepLimit - 1, nearest + 1)
    findErrors(nearest, below, above, limit)
    let best = nearest
    let least = load<f32>(errors)
    if (load<f32>(errors, 4) < least) {
      least = load<f32>(errors, 4)
      best = below
    }
    if (load<f32>(errors, 8) < least) {
      least = load<f32>(errors, 8)
      best = above
    }
    store<i16>(signedSteps + (sub << 1), <i16>(<i32>best))
    putCodes(codes + (sub << 4), best === 0 ? 0 : <f32>1 / best, limit)
    total += <f64>least
  }
  return total * (<f64>d * <f64>d)
}

/** The squared rounding errors under three numbers of steps. */
function findErrors(a: f32, b: f32, c: f32, limit: f32): void {
  const steps = f32x4(a, b, c, c)
  const zero = f32x4.splat(0)
  const factors = v128.and(f32x4.div(f32x4.splat(1), steps), f32x4.ne(steps, zero))
  const bottom = kept(f32x4.splat(-limit))
  const top = kept(f32x4.splat(limit - 1))
  const up = kept(f32x4.splat(whole))
  let sums = zero
  for (let at = values; at < values + 64; at += 4) {
    const value = v128.load32_splat(at)
    const nearest = f32x4.sub(f32x4.add(f32x4.mul(factors, value), up), up)
    const rest = f32x4.sub(value, f32x4.mul(steps, f32x4.pmin(f32x4.pmax(nearest, bottom), top)))
    sums = f32x4.add(sums, f32x4.mul(rest, rest))
  }
  v128.store(errors, sums)
}

/** Sixteen codes, which count from the lowest. */
function putCodes(target: usize, factor: f32, limit: f32): void {
  const by = f32x4.splat(factor)
  const ab = i16x8.narrow_i32x4_s(codesAt(values, by, limit), codesAt(values + 16, by, limit))
  const cd = i16x8.narrow_i32x4_s(codesAt(values + 32, by, limit), codesAt(values + 48, by, limit))
  v128.store(target, i8x16.narrow_i16x8_u(ab, cd))
}

function codesAt(from: usize, factor: v128, limit: f32): v128 {
  const bounded = f32x4.pmin(
    f32x4.pmax(f32x4.mul(v128.load(from), factor), f32x4.splat(-limit)),
    f32x4.splat(limit - 1),
  )
  return i32x4.sub(f32x4.add(bounded, f32x4.splat(whole + limit)), i32x4.splat(0x4b400000))
}
