// Values to codes, and codes to bits. Codes come as bytes in two vectors of 16; packing moves neighbours together, twice as wide at
// each step: pairs in 16 bits, fours in 32, eights in 64.
import { clampLanes, largestCode, roundingBias, smallestCode, toIntegers } from './lanes'
import { block } from './memory-map'

/** Sixteen codes: to nearest, ties to even. */
function encode16(values: usize, inverse: v128, low: v128, high: v128): v128 {
  const bias = f32x4.splat(roundingBias)
  const offset = i32x4.splat(0x4b400000)
  const a = i32x4.sub(f32x4.add(clampLanes(f32x4.mul(v128.load(values), inverse), low, high), bias), offset)
  const b = i32x4.sub(f32x4.add(clampLanes(f32x4.mul(v128.load(values, 16), inverse), low, high), bias), offset)
  const c = i32x4.sub(f32x4.add(clampLanes(f32x4.mul(v128.load(values, 32), inverse), low, high), bias), offset)
  const d = i32x4.sub(f32x4.add(clampLanes(f32x4.mul(v128.load(values, 48), inverse), low, high), bias), offset)
  return i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d))
}

/** The largest f32 below one half: added, it carries halves away from zero and nothing else. */
const nearlyHalf: f32 = 0.4999999701976776

function roundAway(v: v128): v128 {
  const half = v128.or(f32x4.splat(nearlyHalf), v128.and(v, i32x4.splat(0x80000000)))
  return toIntegers(f32x4.trunc(f32x4.add(v, half)))
}

/** Sixteen codes: to nearest, halves away from zero. */
function encode16Away(values: usize, inverse: v128, low: v128, high: v128): v128 {
  const a = roundAway(clampLanes(f32x4.mul(v128.load(values), inverse), low, high))
  const b = roundAway(clampLanes(f32x4.mul(v128.load(values, 16), inverse), low, high))
  const c = roundAway(clampLanes(f32x4.mul(v128.load(values, 32), inverse), low, high))
  const d = roundAway(clampLanes(f32x4.mul(v128.load(values, 48), inverse), low, high))
  return i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d))
}

/** One block of codes under the stored scale. */
function encodeBlock(bits: i32, values: usize, scale: f32, smallest: f32, codes: usize): void {
  if (scale === 0) {
    memory.fill(codes, 0, 4 * bits)
    return
  }
  const inverse = f32x4.splat(1 / scale)
  const low = f32x4.splat(smallest)
  const high = f32x4.splat(largestCode(bits))
  packBlock(bits, encode16(values, inverse, low, high), encode16(values + 64, inverse, low, high), codes)
}

export function encode(bits: i32, all: bool, values: usize, scales: usize, codes: usize, blocks: i32): void {
  const smallest = smallestCode(bits, all)
  for (let i = 0; i < blocks; i++) {
    encodeBlock(bits, values, load<f32>(scales), smallest, codes)
    values += 128
    scales += 4
    codes += 4 * bits
  }
}

/** One block of codes as the reference program makes them, under the scale before it is rounded. */
export function encodeBlockAway(bits: i32, values: usize, scale: f32, real: i32, inQ4: bool, codes: usize): void {
  if (scale === 0) {
    memory.fill(codes, 0, 4 * bits)
    return
  }
  const maxCode = largestCode(bits)
  const inverse: f32 = 1 / scale
  if (inverse === Infinity) {
    // The reference program turns infinite quotients into the lowest code, also those of the padding, except in q4.
    const code = -(<i32>maxCode)
    memory.fill(block, <u8>code, 32)
    if (inQ4) memory.fill(block + <usize>real, 0, 32 - real)
    packBlock(bits, v128.load(block), v128.load(block, 16), codes)
    return
  }
  const factor = f32x4.splat(inverse)
  const low = f32x4.splat(-maxCode)
  const high = f32x4.splat(maxCode)
  packBlock(bits, encode16Away(values, factor, low, high), encode16Away(values + 64, factor, low, high), codes)
}

/** Writes up to four bytes more than the block has; the next block overwrites them. */
function packBlock(bits: i32, first: v128, second: v128, codes: usize): void {
  if (bits === 8) {
    v128.store(codes, first)
    v128.store(codes, second, 16)
  } else if (bits === 4) {
    v128.store(codes, i8x16.narrow_i16x8_u(pairs4(first), pairs4(second)))
  } else if (bits === 6) {
    v128.store(codes, fours6(first))
    v128.store(codes, fours6(second), 12)
  } else if (bits === 3) {
    const both = i8x16.shuffle(eights3(first), eights3(second), 0, 1, 2, 8, 9, 10, 16, 17, 18, 24, 25, 26, 3, 3, 3, 3)
    v128.store(codes, both)
  } else {
    const both = i16x8.narrow_i32x4_u(fours2(first), fours2(second))
    v128.store_lane<u64>(codes, i8x16.narrow_i16x8_u(both, both), 0)
  }
}

/** The wanted bits of the lower and the upper code; the upper ones move down to sit next to the lower ones. */
function pairs4(c: v128): v128 {
  return v128.or(v128.and(c, i16x8.splat(0x0f)), v128.and(i16x8.shr_u(c, 4), i16x8.splat(0xf0)))
}

function fours2(c: v128): v128 {
  const pairs = v128.or(v128.and(c, i16x8.splat(3)), v128.and(i16x8.shr_u(c, 6), i16x8.splat(0x0c)))
  return v128.or(v128.and(pairs, i32x4.splat(0x0f)), i32x4.shl(i32x4.shr_u(pairs, 16), 4))
}

function fours6(c: v128): v128 {
  const low = v128.or(v128.and(c, i32x4.splat(0x3f)), v128.and(i32x4.shr_u(c, 2), i32x4.splat(0xfc0)))
  const high = v128.or(
    v128.and(i32x4.shr_u(c, 4), i32x4.splat(0x3f000)),
    v128.and(i32x4.shr_u(c, 6), i32x4.splat(0xfc0000)),
  )
  const fours = v128.or(low, high)
  return i8x16.shuffle(fours, fours, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 3, 3, 3)
}

function eights3(c: v128): v128 {
  const pairs = v128.or(v128.and(c, i16x8.splat(7)), v128.and(i16x8.shr_u(c, 5), i16x8.splat(0x38)))
  const fours = v128.or(v128.and(pairs, i32x4.splat(0x3f)), v128.and(i32x4.shr_u(pairs, 10), i32x4.splat(0xfc0)))
  return v128.or(v128.and(fours, i64x2.splat(0xfff)), v128.and(i64x2.shr_u(fours, 20), i64x2.splat(0xfff000)))
}
