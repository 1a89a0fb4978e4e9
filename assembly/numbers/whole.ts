// f32 to whole numbers of eight or four bits under one scale, as doubles: value · factor + zero, to nearest, halves to even.

/** Adding 1.5 · 2^52 leaves a whole number in the lower bits. */
const bias: f64 = 6755399441055744

/**
 * Encodes eight values at a time, `count` of them, clipped to [min, max], to codes between `lowest` and `highest`. Returns how many were encoded:
 * it stops before eight of which one is not finite.
 */
export function f32ToWhole(
  bits: i32,
  source: usize,
  target: usize,
  count: i32,
  min: f64,
  max: f64,
  factor: f64,
  zero: f64,
  lowest: f64,
  highest: f64,
): i32 {
  const exponent = i32x4.splat(0x7f800000)
  const low = f64x2.splat(min)
  const high = f64x2.splat(max)
  const by = f64x2.splat(factor)
  const to = f64x2.splat(zero)
  const bottom = f64x2.splat(lowest)
  const top = f64x2.splat(highest)
  for (let i = 0; i < count; i += 8) {
    const first = v128.load(source)
    const second = v128.load(source, 16)
    const isBad = v128.or(i32x4.eq(v128.and(first, exponent), exponent), i32x4.eq(v128.and(second, exponent), exponent))
    if (v128.any_true(isBad)) return i
    const words = i16x8.narrow_i32x4_s(
      wholeOf(first, low, high, by, to, bottom, top),
      wholeOf(second, low, high, by, to, bottom, top),
    )
    if (bits === 8) {
      v128.store64_lane(target, i8x16.narrow_i16x8_s(words, words), 0)
      target += 8
    } else {
      // The lower half of a byte comes first.
      const halves = v128.and(words, i16x8.splat(15))
      const pairs = v128.or(halves, i32x4.shr_u(halves, 12))
      const bytes = i8x16.narrow_i16x8_u(v128.and(pairs, i32x4.splat(255)), pairs)
      v128.store32_lane(target, i8x16.shuffle(bytes, bytes, 0, 2, 4, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0)
      target += 4
    }
    source += 32
  }
  return count
}

/** Four codes as i32. */
function wholeOf(values: v128, low: v128, high: v128, by: v128, to: v128, bottom: v128, top: v128): v128 {
  const first = placesOf(f64x2.promote_low_f32x4(values), low, high, by, to, bottom, top)
  const other = i32x4.shuffle(values, values, 2, 3, 0, 1)
  const second = placesOf(f64x2.promote_low_f32x4(other), low, high, by, to, bottom, top)
  return i32x4.shuffle(first, second, 0, 2, 4, 6)
}

function placesOf(values: v128, low: v128, high: v128, by: v128, to: v128, bottom: v128, top: v128): v128 {
  const clipped = f64x2.pmin(f64x2.pmax(values, low), high)
  const places = f64x2.add(f64x2.mul(clipped, by), to)
  return f64x2.add(f64x2.pmin(f64x2.pmax(places, bottom), top), f64x2.splat(bias))
}
