// f16 and bf16 to f32 and back, eight at a time. A NaN keeps its sign and as much of its payload as fits, so it must not pass through
// arithmetic; encoding rounds to nearest, ties to even.
import { lanes16, lanes32 } from './lanes'
import { results } from './memory-map'

/**
 * The lower half of the f32 holds the last three bits of the code; the upper half holds the rest, with 112 added to the exponent. Zero,
 * subnormals, infinity and NaN are rare and take a slower path: the first two get the exponent of the smallest normal value, which is then
 * subtracted as a float, and the others another 112.
 */
export function f16ToF32(source: usize, target: usize, count: i32): void {
  const mask = lanes16(0x7fff)
  const smallest = lanes16(0x400)
  const largest = lanes16(0x7bff)
  const bias = lanes16(0x3800)
  const wideMask = lanes32(0x7fff)
  const wideSmallest = lanes32(0x400)
  const wideLargest = lanes32(0x7bff)
  const wideBias = lanes32(0x38000000)
  const step = lanes32(0x800000)
  for (const end = target + 4 * count; target < end; target += 32) {
    const codes = v128.load(source)
    const magnitude = v128.and(codes, mask)
    if (v128.any_true(v128.or(i16x8.gt_s(smallest, magnitude), i16x8.gt_s(magnitude, largest)))) {
      for (let at: usize = 0; at < 32; at += 16) {
        const wide = v128.load_ext<u16>(source + (at >> 1))
        const positive = v128.and(wide, wideMask)
        const isTiny = i32x4.gt_s(wideSmallest, positive)
        const excess = v128.and(isTiny, step)
        const rebased = i32x4.add(i32x4.add(i32x4.shl(positive, 13), wideBias), excess)
        const value = f32x4.sub(rebased, v128.and(isTiny, i32x4.add(wideBias, step)))
        const special = v128.and(i32x4.gt_s(positive, wideLargest), wideBias)
        v128.store(target + at, v128.or(i32x4.add(value, special), i32x4.shl(v128.xor(wide, positive), 16)))
      }
    } else {
      const upper = v128.or(i16x8.add(i16x8.shr_u(magnitude, 3), bias), v128.xor(codes, magnitude))
      const lower = i16x8.shl(codes, 13)
      v128.store(target, i16x8.shuffle(lower, upper, 0, 8, 1, 9, 2, 10, 3, 11))
      v128.store(target, i16x8.shuffle(lower, upper, 4, 12, 5, 13, 6, 14, 7, 15), 16)
    }
    source += 16
  }
}

/** A bf16 is the upper half of an f32. */
export function bf16ToF32(source: usize, target: usize, count: i32): void {
  const zero = i32x4.splat(0)
  for (const end = target + 4 * count; target < end; target += 32) {
    const codes = v128.load(source)
    v128.store(target, i16x8.shuffle(zero, codes, 0, 8, 1, 9, 2, 10, 3, 11))
    v128.store(target, i16x8.shuffle(zero, codes, 4, 12, 5, 13, 6, 14, 7, 15), 16)
    source += 16
  }
}

/** What is not a normal f16 (tiny, too large, NaN) is rare and takes a slower path. */
export function f32ToF16(source: usize, target: usize, count: i32): void {
  const mask = lanes32(0x7fffffff)
  const smallest = lanes32(0x38800000)
  const beyond = lanes32(0x47800000)
  const outside = lanes32(0xf0000000)
  const one = lanes32(1)
  const rebase = lanes32(0x37fff001)
  const infinity = lanes32(0x7c00)
  const half = lanes32(0x3f000000)
  const signs = lanes16(0x8000)
  for (const end = target + 2 * count; target < end; target += 16) {
    const x = v128.load(source)
    const y = v128.load(source, 16)
    let a = v128.and(x, mask)
    let b = v128.and(y, mask)
    const above = v128.or(i32x4.sub(a, smallest), i32x4.sub(b, smallest))
    if (v128.any_true(v128.and(above, outside))) {
      // f16 subnormals are as far apart as f32 between 0.5 and 1, so adding 0.5 rounds to them.
      const tinyA = i32x4.sub(f32x4.add(a, half), half)
      const tinyB = i32x4.sub(f32x4.add(b, half), half)
      const normalA = normalToF16(i32x4.min_s(a, beyond), rebase, one, infinity)
      const normalB = normalToF16(i32x4.min_s(b, beyond), rebase, one, infinity)
      a = v128.bitselect(tinyA, normalA, i32x4.gt_s(smallest, a))
      b = v128.bitselect(tinyB, normalB, i32x4.gt_s(smallest, b))
      if (haveNaN(x, y)) {
        a = keepNaNs(x, a, 13, 0x7c00, 0x200)
        b = keepNaNs(y, b, 13, 0x7c00, 0x200)
      }
    } else {
      a = normalToF16(a, rebase, one, infinity)
      b = normalToF16(b, rebase, one, infinity)
    }
    const upper = i16x8.narrow_i32x4_s(i32x4.shr_s(x, 16), i32x4.shr_s(y, 16))
    v128.store(target, v128.or(i16x8.narrow_i32x4_u(a, b), v128.and(upper, signs)))
    source += 32
  }
}

/**
 * Between the smallest and the largest normal f16, a bf16 has fewer digits than an f16: only the exponent changes. All else goes through f32.
 */
export function bf16ToF16(source: usize, target: usize, count: i32): void {
  const mask = lanes16(0x7fff)
  const smallest = lanes16(0x3880)
  const largest = lanes16(0x477f)
  const bias = lanes16(0x3800)
  const spare = results + 64
  for (const end = target + 2 * count; target < end; target += 16) {
    const codes = v128.load(source)
    const magnitude = v128.and(codes, mask)
    if (v128.any_true(v128.or(i16x8.gt_s(smallest, magnitude), i16x8.gt_s(magnitude, largest)))) {
      bf16ToF32(source, spare, 8)
      f32ToF16(spare, target, 8)
    } else v128.store(target, v128.or(i16x8.shl(i16x8.sub(magnitude, bias), 3), v128.xor(codes, magnitude)))
    source += 16
  }
}

/** For magnitudes from the smallest normal f16 to twice the largest. `rebase` lowers the exponent by 112 and adds almost half a step. */
function normalToF16(magnitude: v128, rebase: v128, one: v128, infinity: v128): v128 {
  const odd = v128.and(i32x4.shr_u(magnitude, 13), one)
  return i32x4.min_s(i32x4.shr_u(i32x4.add(i32x4.sub(magnitude, rebase), odd), 13), infinity)
}

export function f32ToBf16(source: usize, target: usize, count: i32): void {
  const one = lanes32(1)
  const nearlyHalf = lanes32(0x7fff)
  for (const end = target + 2 * count; target < end; target += 16) {
    const x = v128.load(source)
    const y = v128.load(source, 16)
    let a = i32x4.shr_u(i32x4.add(i32x4.add(x, nearlyHalf), v128.and(i32x4.shr_u(x, 16), one)), 16)
    let b = i32x4.shr_u(i32x4.add(i32x4.add(y, nearlyHalf), v128.and(i32x4.shr_u(y, 16), one)), 16)
    if (haveNaN(x, y)) {
      a = keepNaNs(x, a, 16, 0x7f80, 0x40)
      b = keepNaNs(y, b, 16, 0x7f80, 0x40)
    }
    v128.store(target, i16x8.narrow_i32x4_u(a, b))
    source += 32
  }
}

function haveNaN(x: v128, y: v128): bool {
  return v128.any_true(v128.or(f32x4.ne(x, x), f32x4.ne(y, y)))
}

/** Replaces the codes of NaNs, which rounding may have turned into infinity. `infinity` is the code of infinity, `quiet` the leading bit of the payload. */
function keepNaNs(bits: v128, codes: v128, shift: i32, infinity: i32, quiet: i32): v128 {
  const cut = i32x4.shr_u(v128.and(bits, i32x4.splat(0x7fffffff)), shift)
  const kept = v128.or(v128.and(cut, i32x4.splat(0x7fff)), i32x4.splat(infinity))
  const nan = v128.or(kept, v128.and(i32x4.eq(kept, i32x4.splat(infinity)), i32x4.splat(quiet)))
  const sign = v128.and(i32x4.shr_u(bits, 16), i32x4.splat(0x8000))
  return v128.bitselect(v128.or(nan, sign), codes, f32x4.ne(bits, bits))
}
