// Blocks of 256 in sixteen sub-blocks with two bits of every code in planes: Q2_K, and Q3_K with a plane for the third bit.
import { halfAt, putScaled, putShifted } from './lanes'

/** Bits `shift` and `shift + 1` of each byte. */
function twoBits(planes: v128, shift: i32): v128 {
  return v128.and(i8x16.shr_u(planes, shift), i8x16.splat(3))
}

/** A byte per sub-block: the scale in its low bits, the minimum in its high bits. */
export function decodeQ2_K(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const d = halfAt(source + 80)
    const dmin = halfAt(source + 82)
    for (let run: usize = 0; run < 4; run++) {
      // Elements i, i + 32, i + 64 and i + 96 of a half share a byte.
      const planes = v128.load(source + 16 * run, 16)
      let sub = source + 4 * (run & 2) + (run & 1)
      let to = target + 256 * (run & 2) + 64 * (run & 1)
      for (let shift = 0; shift < 8; shift += 2) {
        const packed = <u32>load<u8>(sub)
        const factor = f32x4.splat(d * <f32>(packed & 15))
        putShifted(twoBits(planes, shift), factor, f32x4.splat(dmin * <f32>(packed >> 4)), to)
        sub += 2
        to += 128
      }
    }
    source += 84
    target += 1024
  }
}

/** Six bits with an offset of 32: four of them side by side, two in planes of their own. */
function scaleAt(at: usize, sub: u32): i32 {
  const low = <u32>load<u8>(at + (sub & 7)) >> ((sub & 8) >> 1)
  const high = <u32>load<u8>(at + (sub & 3), 8) >> (2 * (sub >> 2))
  return <i32>((low & 15) | ((high & 3) << 4)) - 32
}

/** The third bit stands for "do not subtract 4". */
export function decodeQ3_K(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const d = halfAt(source + 108)
    for (let run: usize = 0; run < 4; run++) {
      const planes = v128.load(source + 16 * run, 32)
      const thirds = v128.load(source + 16 * (run & 1))
      let sub = 4 * (<u32>run & 2) + (<u32>run & 1)
      let to = target + 256 * (run & 2) + 64 * (run & 1)
      for (let shift = 0; shift < 8; shift += 2) {
        const third = v128.and(i8x16.shr_u(thirds, <i32>(sub >> 1)), i8x16.splat(1))
        const codes = i8x16.sub(v128.or(twoBits(planes, shift), i8x16.shl(third, 2)), i8x16.splat(4))
        putScaled(codes, f32x4.splat(d * <f32>scaleAt(source + 96, sub)), to)
        sub += 2
        to += 128
      }
    }
    source += 110
    target += 1024
  }
}
