// Blocks of 32 values with one scale, some with a minimum. Values are finite, and every step rounds to f32, as in the plain encoders.
import { putF16 } from './lanes'

export function encodeQ8_0(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const scale = largestMagnitude(source, 128) / 127
    const inverse: f32 = 1 / scale
    // Where the scale is too small for an inverse, all codes are zero.
    const factor = f32x4.splat(inverse < Infinity ? inverse : 0)
    putF16(target, scale)
    v128.store(target, roundedAt(source, factor), 2)
    v128.store(target, roundedAt(source + 64, factor), 18)
    source += 128
    target += 34
  }
}

/** The extreme value gets the code 0, which is the only one with the full range. */
export function encodeQ4_0(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const scale = extremeOf(source, 128) * -0.125
    putF16(target, scale)
    const factor = inverse(scale)
    putLowBits(target + 2, aroundAt(source, factor, 8.5, 15), aroundAt(source + 64, factor, 8.5, 15))
    source += 128
    target += 18
  }
}

export function encodeQ5_0(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const scale = extremeOf(source, 128) * -0.0625
    putF16(target, scale)
    const factor = inverse(scale)
    const first = aroundAt(source, factor, 16.5, 31)
    const second = aroundAt(source + 64, factor, 16.5, 31)
    putFifthBits(target + 2, first, second)
    putLowBits(target + 6, first, second)
    source += 128
    target += 22
  }
}

/** The largest magnitude of a block of `size` bytes. */
export function largestMagnitude(values: usize, size: usize): f32 {
  let maxima = f32x4.abs(v128.load(values))
  for (let at: usize = 16; at < size; at += 16) maxima = f32x4.pmax(maxima, f32x4.abs(v128.load(values + at)))
  const half = f32x4.pmax(maxima, i32x4.shuffle(maxima, maxima, 2, 3, 0, 1))
  return max(f32x4.extract_lane(half, 0), f32x4.extract_lane(half, 1))
}

/** The first value with the largest magnitude in a block of `size` bytes; plus zero where there are only zeros. */
export function extremeOf(values: usize, size: usize): f32 {
  let low = v128.load(values)
  let high = low
  for (let at: usize = 16; at < size; at += 16) {
    const four = v128.load(values + at)
    low = f32x4.pmin(low, four)
    high = f32x4.pmax(high, four)
  }
  const depths = f32x4.neg(low)
  const both = f32x4.pmax(i32x4.shuffle(depths, high, 0, 1, 4, 5), i32x4.shuffle(depths, high, 2, 3, 6, 7))
  const found = f32x4.pmax(both, i32x4.shuffle(both, both, 1, 0, 3, 2))
  const depth = f32x4.extract_lane(found, 0)
  const height = f32x4.extract_lane(found, 2)
  if (height !== depth) {
    // Either is as likely, so that a branch would often be taken in vain.
    const isHigh = 0 - <u32>(height > depth)
    const depthBits = reinterpret<u32>(depth) ^ 0x80000000
    return reinterpret<f32>((reinterpret<u32>(height) & isHigh) | (depthBits & ~isHigh))
  }
  if (depth === 0) return 0
  while (abs(load<f32>(values)) !== depth) values += 4
  return load<f32>(values)
}

/** Sixteen values times a factor, to the nearest whole numbers, halves away from zero. */
function roundedAt(values: usize, factor: v128): v128 {
  const low = i16x8.narrow_i32x4_s(rounded(v128.load(values), factor), rounded(v128.load(values, 16), factor))
  const high = i16x8.narrow_i32x4_s(rounded(v128.load(values, 32), factor), rounded(v128.load(values, 48), factor))
  return i8x16.narrow_i16x8_s(low, high)
}

function rounded(values: v128, factor: v128): v128 {
  const magnitude = f32x4.abs(f32x4.mul(values, factor))
  const whole = f32x4.trunc(magnitude)
  // A comparison that holds is −1 as an integer.
  const up = f32x4.ge(f32x4.sub(magnitude, whole), f32x4.splat(0.5))
  const code = i32x4.sub(i32x4.trunc_sat_f32x4_s(whole), up)
  const sign = i32x4.shr_s(values, 31)
  return i32x4.sub(v128.xor(code, sign), sign)
}

// Q4_1 and Q5_1: from the smallest value up to the largest.

export function encodeQ4_1(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const smallest = smallestOf(source)
    const scale = (largestOf(source) - smallest) / 15
    putF16(target, scale)
    putF16(target + 2, smallest)
    putLowBits(
      target + 4,
      cutAt(source, smallest, inverse(scale), 0.5, 15),
      cutAt(source + 64, smallest, inverse(scale), 0.5, 15),
    )
    source += 128
    target += 20
  }
}

export function encodeQ5_1(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const smallest = smallestOf(source)
    const scale = (largestOf(source) - smallest) / 31
    putF16(target, scale)
    putF16(target + 2, smallest)
    const first = cutAt(source, smallest, inverse(scale), 0.5, 31)
    const second = cutAt(source + 64, smallest, inverse(scale), 0.5, 31)
    putFifthBits(target + 4, first, second)
    putLowBits(target + 8, first, second)
    source += 128
    target += 24
  }
}

/** Where the smallest value is zero, the sign of the first zero counts. */
function smallestOf(values: usize): f32 {
  let minima = v128.load(values)
  for (let at: usize = 16; at < 128; at += 16) minima = f32x4.pmin(minima, v128.load(values + at))
  minima = f32x4.pmin(minima, i32x4.shuffle(minima, minima, 2, 3, 0, 1))
  const found = f32x4.extract_lane(f32x4.pmin(minima, i32x4.shuffle(minima, minima, 1, 0, 3, 2)), 0)
  if (found !== 0) return found
  while (load<f32>(values) !== 0) values += 4
  return load<f32>(values)
}

/** The sign of a zero matters only where all values are zeros, and then the first one wins here as well. */
function largestOf(values: usize): f32 {
  let maxima = v128.load(values)
  for (let at: usize = 16; at < 128; at += 16) maxima = f32x4.pmax(maxima, v128.load(values + at))
  maxima = f32x4.pmax(maxima, i32x4.shuffle(maxima, maxima, 2, 3, 0, 1))
  return f32x4.extract_lane(f32x4.pmax(maxima, i32x4.shuffle(maxima, maxima, 1, 0, 3, 2)), 0)
}

// Codes of four and five bits for 32 values.

/** Sixteen codes: (value − smallest) · factor + bias, truncated and clamped to [0, top]. */
function cutAt(values: usize, smallest: f32, factor: f32, bias: f32, top: i32): v128 {
  const less = f32x4.splat(smallest)
  const by = f32x4.splat(factor)
  const up = f32x4.splat(bias)
  const a = cut(v128.load(values), less, by, up)
  const b = cut(v128.load(values, 16), less, by, up)
  const c = cut(v128.load(values, 32), less, by, up)
  const d = cut(v128.load(values, 48), less, by, up)
  const bytes = i8x16.narrow_i16x8_u(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d))
  return i8x16.min_u(bytes, i8x16.splat(<i8>top))
}

function inverse(scale: f32): f32 {
  return scale === 0 ? 0 : 1 / scale
}

/** The same without a smallest value. No magnitude is above that of the extreme, so value · factor + bias is between 0 and `top` + 2. */
function aroundAt(values: usize, factor: f32, bias: f32, top: i32): v128 {
  if (!(abs(factor) < Infinity)) return cutAt(values, 0, factor, bias, top)
  const by = f32x4.splat(factor)
  const up = f32x4.splat(bias)
  const a = around(v128.load(values), by, up)
  const b = around(v128.load(values, 16), by, up)
  const c = around(v128.load(values, 32), by, up)
  const d = around(v128.load(values, 48), by, up)
  const bytes = i8x16.narrow_i16x8_u(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d))
  return i8x16.min_u(bytes, i8x16.splat(<i8>top))
}

/** Adding 2^23 leaves a whole number in the lower bits, which takes fewer instructions than a conversion that minds all floats. */
function around(values: v128, factor: v128, up: v128): v128 {
  const whole = f32x4.floor(f32x4.add(f32x4.mul(values, factor), up))
  return i32x4.sub(f32x4.add(whole, f32x4.splat(8388608)), i32x4.splat(0x4b000000))
}

/** NaN, such as zero times an infinite factor, becomes 0. */
function cut(values: v128, less: v128, factor: v128, up: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.add(f32x4.mul(f32x4.sub(values, less), factor), up))
}

/** Codes i and i + 16 share a byte. */
function putLowBits(target: usize, first: v128, second: v128): void {
  v128.store(target, v128.or(v128.and(first, i8x16.splat(15)), i8x16.shl(second, 4)))
}

function putFifthBits(target: usize, first: v128, second: v128): void {
  store<u16>(target, <u16>i8x16.bitmask(i8x16.shl(first, 3)))
  store<u16>(target, <u16>i8x16.bitmask(i8x16.shl(second, 3)), 2)
}
