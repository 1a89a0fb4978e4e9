// Shorter floats to f32, eight at a time. A NaN passes through no arithmetic, so its payload stays as it is.
import { lanes16, lanes32 } from './constants'

/**
 * f16. The lower half of an f32 is the code's last three bits; the upper one is the rest, with 112 added to the exponent. Zero, subnormals,
 * infinity and NaN are rare and have a way of their own: the first two get the exponent of the smallest normal value, which is then taken
 * away, and the others 112 once more.
 */
export function widenHalves(source: usize, target: usize, count: i32): void {
  const mask = lanes16(0x7fff)
  const smallest = lanes16(0x400)
  const largest = lanes16(0x7bff)
  const bias = lanes16(0x3800)
  const wideMask = lanes32(0x7fff)
  const wideSmallest = lanes32(0x400)
  const wideLargest = lanes32(0x7bff)
  const wideBias = lanes32(0x38000000)
  const step = lanes32(0x800000)
  for (const end = target + 4 * count; target < end; target += 32) {
    const codes = v128.load(source)
    const magnitude = v128.and(codes, mask)
    if (v128.any_true(v128.or(i16x8.gt_s(smallest, magnitude), i16x8.gt_s(magnitude, largest)))) {
      for (let at: usize = 0; at < 32; at += 16) {
        const wide = v128.load_ext<u16>(source + (at >> 1))
        const positive = v128.and(wide, wideMask)
        const isTiny = i32x4.gt_s(wideSmallest, positive)
        const excess = v128.and(isTiny, step)
        const rebased = i32x4.add(i32x4.add(i32x4.shl(positive, 13), wideBias), excess)
        const value = f32x4.sub(rebased, v128.and(isTiny, i32x4.add(wideBias, step)))
        const special = v128.and(i32x4.gt_s(positive, wideLargest), wideBias)
        v128.store(target + at, v128.or(i32x4.add(value, special), i32x4.shl(v128.xor(wide, positive), 16)))
      }
    } else {
      const upper = v128.or(i16x8.add(i16x8.shr_u(magnitude, 3), bias), v128.xor(codes, magnitude))
      const lower = i16x8.shl(codes, 13)
      v128.store(target, i16x8.shuffle(lower, upper, 0, 8, 1, 9, 2, 10, 3, 11))
      v128.store(target, i16x8.shuffle(lower, upper, 4, 12, 5, 13, 6, 14, 7, 15), 16)
    }
    source += 16
  }
}

/** bf16: the upper halves of f32. */
export function widenBrains(source: usize, target: usize, count: i32): void {
  const zero = i32x4.splat(0)
  for (const end = target + 4 * count; target < end; target += 32) {
    const codes = v128.load(source)
    v128.store(target, i16x8.shuffle(zero, codes, 0, 8, 1, 9, 2, 10, 3, 11))
    v128.store(target, i16x8.shuffle(zero, codes, 4, 12, 5, 13, 6, 14, 7, 15), 16)
    source += 16
  }
}
