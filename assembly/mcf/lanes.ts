// Shared by all kernels: limits of codes, reductions over a block in a fixed order, clamping.

/** Adding and subtracting 1.5 · 2^23 rounds to the nearest whole number, ties to even, for magnitudes below 2^22. */
export const roundingBias: f32 = 12582912

/** The largest code: 127, 31, 7, 3 or 1. */
export function largestCode(bits: i32): f32 {
  return <f32>((1 << (bits - 1)) - 1)
}

/** The smallest one: as far from zero as the largest, or one further when all codes are used. */
export function smallestCode(bits: i32, all: bool): f32 {
  return -largestCode(bits) - (all ? <f32>1 : <f32>0)
}

/** Adds the lanes in an order that the plain twin follows: (0 + 2) + (1 + 3). */
export function sumLanes(v: v128): f32 {
  const halves = f32x4.add(v, i32x4.shuffle(v, v, 2, 3, 0, 1))
  return f32x4.extract_lane(f32x4.add(halves, i32x4.shuffle(halves, halves, 1, 0, 3, 2)), 0)
}

/** The largest magnitude of a block of 32. */
export function blockMagnitude(values: usize): f32 {
  const ab = f32x4.pmax(f32x4.abs(v128.load(values)), f32x4.abs(v128.load(values, 16)))
  const cd = f32x4.pmax(f32x4.abs(v128.load(values, 32)), f32x4.abs(v128.load(values, 48)))
  const ef = f32x4.pmax(f32x4.abs(v128.load(values, 64)), f32x4.abs(v128.load(values, 80)))
  const gh = f32x4.pmax(f32x4.abs(v128.load(values, 96)), f32x4.abs(v128.load(values, 112)))
  let maxima = f32x4.pmax(f32x4.pmax(ab, cd), f32x4.pmax(ef, gh))
  maxima = f32x4.pmax(maxima, i32x4.shuffle(maxima, maxima, 2, 3, 0, 1))
  return f32x4.extract_lane(f32x4.pmax(maxima, i32x4.shuffle(maxima, maxima, 1, 0, 3, 2)), 0)
}

/** The largest value of a block of 32. */
export function blockMaximum(values: usize): f32 {
  const ab = f32x4.pmax(v128.load(values), v128.load(values, 16))
  const cd = f32x4.pmax(v128.load(values, 32), v128.load(values, 48))
  const ef = f32x4.pmax(v128.load(values, 64), v128.load(values, 80))
  const gh = f32x4.pmax(v128.load(values, 96), v128.load(values, 112))
  let maxima = f32x4.pmax(f32x4.pmax(ab, cd), f32x4.pmax(ef, gh))
  maxima = f32x4.pmax(maxima, i32x4.shuffle(maxima, maxima, 2, 3, 0, 1))
  return f32x4.extract_lane(f32x4.pmax(maxima, i32x4.shuffle(maxima, maxima, 1, 0, 3, 2)), 0)
}

export function clampLanes(v: v128, low: v128, high: v128): v128 {
  return f32x4.pmax(f32x4.pmin(v, high), low)
}

/** Small whole numbers as integers: they are the low bits of the sum with the bias. */
export function toIntegers(v: v128): v128 {
  return i32x4.sub(f32x4.add(v, f32x4.splat(roundingBias)), i32x4.splat(0x4b400000))
}

/** The largest magnitude as f32 bits, which are ordered like the values: from 0x7f800000 on infinity or NaN. `count` is a multiple of 4. */
export function magnitudeBits(values: usize, count: i32): u32 {
  const mask = i32x4.splat(0x7fffffff)
  let maxima = i32x4.splat(0)
  for (let end = values + 4 * count; values < end; values += 16) {
    maxima = i32x4.max_u(maxima, v128.and(v128.load(values), mask))
  }
  maxima = i32x4.max_u(maxima, i32x4.shuffle(maxima, maxima, 2, 3, 0, 1))
  return i32x4.extract_lane(i32x4.max_u(maxima, i32x4.shuffle(maxima, maxima, 1, 0, 3, 2)), 0)
}
