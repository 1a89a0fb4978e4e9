// Encoders for blocks of 32 with one scale in front. Values are finite, and every step rounds to f32, as in the plain encoders.
import { cutAt, putFifthBits, putLowBits } from './cut'
import { putHalf } from './lanes'

export function encodeQ8_0(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const scale = largestOf(source) / 127
    const inverse: f32 = 1 / scale
    // Where the scale is too small for an inverse, all codes are zero.
    const factor = f32x4.splat(inverse < Infinity ? inverse : 0)
    putHalf(target, scale)
    v128.store(target, roundedAt(source, factor), 2)
    v128.store(target, roundedAt(source + 64, factor), 18)
    source += 128
    target += 34
  }
}

/** The extreme value gets the code 0, which is the only one with the full range. */
export function encodeQ4_0(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const scale = extremeOf(source) / -8
    putHalf(target, scale)
    putLowBits(target + 2, cutAt(source, 0, scale, 8.5, 15), cutAt(source + 64, 0, scale, 8.5, 15))
    source += 128
    target += 18
  }
}

export function encodeQ5_0(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const scale = extremeOf(source) / -16
    putHalf(target, scale)
    const first = cutAt(source, 0, scale, 16.5, 31)
    const second = cutAt(source + 64, 0, scale, 16.5, 31)
    putFifthBits(target + 2, first, second)
    putLowBits(target + 6, first, second)
    source += 128
    target += 22
  }
}

/** The largest magnitude of a block. */
function largestOf(values: usize): f32 {
  let most = f32x4.abs(v128.load(values))
  for (let at: usize = 16; at < 128; at += 16) most = f32x4.pmax(most, f32x4.abs(v128.load(values + at)))
  const half = f32x4.pmax(most, i32x4.shuffle(most, most, 2, 3, 0, 1))
  return max(f32x4.extract_lane(half, 0), f32x4.extract_lane(half, 1))
}

/** The first value that has it; plus zero where there are only zeros. */
function extremeOf(values: usize): f32 {
  const largest = largestOf(values)
  if (largest === 0) return 0
  let found = lanesWith(values, largest)
  while (found === 0) {
    values += 16
    found = lanesWith(values, largest)
  }
  return load<f32>(values + ((<usize>ctz(found)) << 2))
}

/** A bit for each of four values that has this magnitude. */
function lanesWith(values: usize, magnitude: f32): i32 {
  return i32x4.bitmask(f32x4.eq(f32x4.abs(v128.load(values)), f32x4.splat(magnitude)))
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
