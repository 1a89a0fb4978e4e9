// Codes of four and five bits for 32 values.

/** Sixteen codes: values less the smallest, by the scale, moved up by `bias` and cut to [0, top]. */
export function cutAt(values: usize, smallest: f32, scale: f32, bias: f32, top: i32): v128 {
  const less = f32x4.splat(smallest)
  const factor = f32x4.splat(scale === 0 ? 0 : 1 / scale)
  const up = f32x4.splat(bias)
  const a = cut(v128.load(values), less, factor, up)
  const b = cut(v128.load(values, 16), less, factor, up)
  const c = cut(v128.load(values, 32), less, factor, up)
  const d = cut(v128.load(values, 48), less, factor, up)
  const bytes = i8x16.narrow_i16x8_u(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d))
  return i8x16.min_u(bytes, i8x16.splat(<i8>top))
}

/** What is no number, as zero times an infinite factor, becomes 0. */
function cut(values: v128, less: v128, factor: v128, up: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.add(f32x4.mul(f32x4.sub(values, less), factor), up))
}

/** Codes i and i + 16 share a byte. */
export function putLowBits(target: usize, first: v128, second: v128): void {
  v128.store(target, v128.or(v128.and(first, i8x16.splat(15)), i8x16.shl(second, 4)))
}

export function putFifthBits(target: usize, first: v128, second: v128): void {
  store<u16>(target, <u16>i8x16.bitmask(i8x16.shl(first, 3)))
  store<u16>(target, <u16>i8x16.bitmask(i8x16.shl(second, 3)), 2)
}
