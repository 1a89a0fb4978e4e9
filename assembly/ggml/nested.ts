// Blocks of 256 in eight sub-blocks, each with a scale and a minimum of six bits: Q4_K, and Q5_K with a plane for the fifth bit.
import { halfAt, highHalves, lowHalves, putShifted } from './lanes'

/** Four of each as they are, the others in the bits left over. */
function scaleAt(at: usize, sub: i32): i32 {
  if (sub < 4) return load<u8>(at + sub) & 63
  return (load<u8>(at + sub + 4) & 15) | ((load<u8>(at + sub - 4) >> 6) << 4)
}

function minAt(at: usize, sub: i32): i32 {
  if (sub < 4) return load<u8>(at + sub + 4) & 63
  return (load<u8>(at + sub + 4) >> 4) | ((load<u8>(at + sub) >> 6) << 4)
}

export function decodeQ4_K(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const d = halfAt(source)
    const dmin = halfAt(source + 2)
    for (let pair = 0; pair < 8; pair += 2) {
      const codes = source + 16 + 16 * pair
      const first = v128.load(codes)
      const second = v128.load(codes, 16)
      let factor = f32x4.splat(d * <f32>scaleAt(source + 4, pair))
      let offset = f32x4.splat(dmin * <f32>minAt(source + 4, pair))
      putShifted(lowHalves(first), factor, offset, target)
      putShifted(lowHalves(second), factor, offset, target + 64)
      factor = f32x4.splat(d * <f32>scaleAt(source + 4, pair + 1))
      offset = f32x4.splat(dmin * <f32>minAt(source + 4, pair + 1))
      putShifted(highHalves(first), factor, offset, target + 128)
      putShifted(highHalves(second), factor, offset, target + 192)
      target += 256
    }
    source += 144
  }
}

/** Bit `sub` of each byte, as 16. */
function fifthBits(plane: v128, sub: i32): v128 {
  return i8x16.shl(v128.and(i8x16.shr_u(plane, sub), i8x16.splat(1)), 4)
}

export function decodeQ5_K(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const d = halfAt(source)
    const dmin = halfAt(source + 2)
    const plane1 = v128.load(source, 16)
    const plane2 = v128.load(source, 32)
    for (let pair = 0; pair < 8; pair += 2) {
      const codes = source + 48 + 16 * pair
      const first = v128.load(codes)
      const second = v128.load(codes, 16)
      let factor = f32x4.splat(d * <f32>scaleAt(source + 4, pair))
      let offset = f32x4.splat(dmin * <f32>minAt(source + 4, pair))
      putShifted(v128.or(lowHalves(first), fifthBits(plane1, pair)), factor, offset, target)
      putShifted(v128.or(lowHalves(second), fifthBits(plane2, pair)), factor, offset, target + 64)
      factor = f32x4.splat(d * <f32>scaleAt(source + 4, pair + 1))
      offset = f32x4.splat(dmin * <f32>minAt(source + 4, pair + 1))
      putShifted(v128.or(highHalves(first), fifthBits(plane1, pair + 1)), factor, offset, target + 128)
      putShifted(v128.or(highHalves(second), fifthBits(plane2, pair + 1)), factor, offset, target + 192)
      target += 256
    }
    source += 176
  }
}
