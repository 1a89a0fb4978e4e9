// Whole numbers and codes from f64, rounded as JavaScript does it in the plain encoders.
import { codes } from './memory-map'
import { both } from './scratch'

/** As `value | 0`: the whole part modulo 2^32, and 0 for NaN and infinities. */
export function toInt32(value: f64): i32 {
  if (abs(value) < 9e18) return <i32>(<i64>value)
  const bits = reinterpret<u64>(value)
  const shift = <i32>((bits >> 52) & 2047) - 1075
  // Beyond 2^84 nothing is left of the lowest 32 bits.
  if (shift > 31) return 0
  const whole = <i32>(((bits & 0xfffffffffffff) | 0x10000000000000) << shift)
  return value < 0 ? -whole : whole
}

/** To nearest, halves to even, as ggml does it: adding 1.5 · 2^23 leaves the whole number in the lower bits. */
export function nearestInt(value: f32): i32 {
  return (reinterpret<i32>(value + 12582912) & 0x7fffff) - 0x400000
}

/** To nearest, halves up. */
export function roundHalvesUp(value: f64): f64 {
  const up = ceil(value)
  return up - 0.5 > value ? up - 1 : up
}

/** The same for two. */
export function roundHalvesUp2(values: v128): v128 {
  const up = f64x2.ceil(values)
  return f64x2.sub(up, v128.and(f64x2.gt(f64x2.sub(up, f64x2.splat(0.5)), values), f64x2.splat(1)))
}

/** Codes of one sub-block: the nearest to (value + min) / scale in [0, limit]. With a scale of zero every code means the same. */
export function roundCodes(values: usize, first: usize, count: usize, scale: f64, min: f64, limit: f64): void {
  if (scale === 0) {
    memory.fill(codes + first, 0, count)
    return
  }
  const divisor = both(scale)
  const shift = both(min)
  const top = both(limit)
  for (let i: usize = 0; i < count; i += 4) {
    const at = values + ((first + i) << 3)
    const low = codesOf(f64x2.div(f64x2.add(v128.load(at), shift), divisor), top)
    const high = codesOf(f64x2.div(f64x2.add(v128.load(at, 16), shift), divisor), top)
    const four = i8x16.shuffle(low, high, 0, 4, 16, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    v128.store32_lane(codes + first + i, four, 0)
  }
}

/** NaN becomes 0. */
function codesOf(places: v128, top: v128): v128 {
  return i32x4.trunc_sat_f64x2_s_zero(f64x2.max(f64x2.splat(0), f64x2.min(top, roundHalvesUp2(places))))
}
