// What every value goes through before it is quantized.

/** The largest magnitude as f32 bits, which order like the values: 0x7f800000 and more is infinity or NaN. `count` is a multiple of 4. */
export function magnitudeBits(values: usize, count: i32): u32 {
  const mask = i32x4.splat(0x7fffffff)
  let most = i32x4.splat(0)
  for (let end = values + 4 * count; values < end; values += 16) {
    most = i32x4.max_u(most, v128.and(v128.load(values), mask))
  }
  most = i32x4.max_u(most, i32x4.shuffle(most, most, 2, 3, 0, 1))
  return i32x4.extract_lane(i32x4.max_u(most, i32x4.shuffle(most, most, 1, 0, 3, 2)), 0)
}
