// Shared by the kernels: f16 scales, and sixteen codes of one byte each to sixteen floats. The arithmetic is that of the plain decoders,
// where every step but the last is exact.

/** An f16 as f32. Its bits, read as an f32, are too small by 2^112, also if subnormal; infinities and NaN keep their exponent. */
export function f16At(at: usize): f32 {
  const code = <u32>load<u16>(at)
  const magnitude = reinterpret<f32>((code & 0x7fff) << 13) * reinterpret<f32>(0x77800000)
  const bits = (code & 0x7c00) === 0x7c00 ? 0x7f800000 | ((code & 0x3ff) << 13) : reinterpret<u32>(magnitude)
  return reinterpret<f32>(bits | ((code & 0x8000) << 16))
}

/** An f32 as f16, to nearest, ties to even; what is too large becomes infinity. NaN has one pattern. */
export function putF16(at: usize, value: f32): void {
  const bits = reinterpret<u32>(value)
  const magnitude = bits & 0x7fffffff
  let code: u32 = 0x7c00
  // f16 subnormals are as far apart as f32 between 0.5 and 1, so adding 0.5 rounds to them.
  if (magnitude < 0x38800000) code = reinterpret<u32>(reinterpret<f32>(magnitude) + 0.5) - 0x3f000000
  else if (magnitude < 0x47800000) code = (magnitude - 0x37fff001 + ((magnitude >> 13) & 1)) >> 13
  store<u16>(at, magnitude > 0x7f800000 ? 0x7e00 : <u16>(code | ((bits >> 16) & 0x8000)))
}

/** Signed codes times a factor. */
export function putScaled(codes: v128, factor: v128, target: usize): void {
  const low = i16x8.extend_low_i8x16_s(codes)
  const high = i16x8.extend_high_i8x16_s(codes)
  v128.store(target, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(low)), factor))
  v128.store(target, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(low)), factor), 16)
  v128.store(target, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(high)), factor), 32)
  v128.store(target, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(high)), factor), 48)
}

/** Codes times a factor, less an offset. */
export function putShifted(codes: v128, factor: v128, offset: v128, target: usize): void {
  const low = i16x8.extend_low_i8x16_s(codes)
  const high = i16x8.extend_high_i8x16_s(codes)
  v128.store(target, shifted(i32x4.extend_low_i16x8_s(low), factor, offset))
  v128.store(target, shifted(i32x4.extend_high_i16x8_s(low), factor, offset), 16)
  v128.store(target, shifted(i32x4.extend_low_i16x8_s(high), factor, offset), 32)
  v128.store(target, shifted(i32x4.extend_high_i16x8_s(high), factor, offset), 48)
}

function shifted(codes: v128, factor: v128, offset: v128): v128 {
  return f32x4.sub(f32x4.mul(f32x4.convert_i32x4_s(codes), factor), offset)
}

export function lowNibbles(bytes: v128): v128 {
  return v128.and(bytes, i8x16.splat(15))
}

export function highNibbles(bytes: v128): v128 {
  return i8x16.shr_u(bytes, 4)
}
