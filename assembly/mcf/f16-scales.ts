// f16 scales from and to f32: never subnormal, because readers disagree about those, and without their sign bit.

export const smallestF16: f32 = 0.00006103515625
export const largestF16: f32 = 65504
export const negative: u32 = 0x8000
const rebase: u32 = 112 << 23

/** To nearest even; for values from 2^-14 on. 0x7c00 and more means that the value is too large. */
export function nearestF16(value: f32): u32 {
  const bits = reinterpret<u32>(value) - rebase
  return (bits + 0xfff + ((bits >> 13) & 1)) >> 13
}

/** Truncated, as the reference program does it: too small gives 0, too large infinity. */
export function truncatedF16(value: f32): u32 {
  if (value < smallestF16) return 0
  if (value >= 65536) return 0x7c00
  return (reinterpret<u32>(value) - rebase) >> 13
}

export function f16Value(code: u32): f32 {
  return code === 0 ? <f32>0 : reinterpret<f32>((code << 13) + rebase)
}
