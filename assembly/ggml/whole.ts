// Whole numbers as JavaScript makes them of f64.

/** What `| 0` makes: the whole part modulo 2^32, and 0 of what is no number. */
export function toInt32(value: f64): i32 {
  if (abs(value) < 9e18) return <i32>(<i64>value)
  const bits = reinterpret<u64>(value)
  const shift = <i32>((bits >> 52) & 2047) - 1075
  // Beyond 2^84 nothing is left of the lowest 32 bits.
  if (shift > 31) return 0
  const whole = <i32>(((bits & 0xfffffffffffff) | 0x10000000000000) << shift)
  return value < 0 ? -whole : whole
}

/** To nearest, halves up. */
export function roundUp(value: f64): f64 {
  const up = ceil(value)
  return up - 0.5 > value ? up - 1 : up
}

/** The same for two. */
export function roundUp2(values: v128): v128 {
  const up = f64x2.ceil(values)
  return f64x2.sub(up, v128.and(f64x2.gt(f64x2.sub(up, f64x2.splat(0.5)), values), f64x2.splat(1)))
}
