// f16 from and to f32, for scales: never subnormal, and without a sign, which is one bit more.

export const smallestHalf: f32 = 0.00006103515625
export const largestHalf: f32 = 65504
export const negative: u32 = 0x8000
const rebase: u32 = 112 << 23

/** To nearest even; for values from 2^-14 on. 0x7c00 and more means that the value is too large. */
export function nearestHalf(value: f32): u32 {
  const bits = reinterpret<u32>(value) - rebase
  return (bits + 0xfff + ((bits >> 13) & 1)) >> 13
}

/** Cut off, as the reference does it: too small gives 0, too large infinity. */
export function truncatedHalf(value: f32): u32 {
  if (value < smallestHalf) return 0
  if (value >= 65536) return 0x7c00
  return (reinterpret<u32>(value) - rebase) >> 13
}

export function halfValue(code: u32): f32 {
  return code === 0 ? <f32>0 : reinterpret<f32>((code << 13) + rebase)
}
