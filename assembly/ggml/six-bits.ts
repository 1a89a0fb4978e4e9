// Q6_K: four low bits of each code, then planes with the two high bits, then a signed scale per 16 elements, then the scale of the block.
import { halfAt, highHalves, lowHalves, putScaled } from './lanes'

/** Bits `shift` and `shift + 1` of each byte, as 16 and 32. */
function highBits(planes: v128, shift: i32): v128 {
  return i8x16.shl(v128.and(i8x16.shr_u(planes, shift), i8x16.splat(3)), 4)
}

function put(low: v128, high: v128, d: f32, scale: usize, target: usize): void {
  const codes = i8x16.sub(v128.or(low, high), i8x16.splat(32))
  putScaled(codes, f32x4.splat(d * <f32>load<i8>(scale)), target)
}

export function decodeQ6_K(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const d = halfAt(source + 208)
    for (let half: usize = 0; half < 2; half++) {
      for (let part: usize = 0; part < 2; part++) {
        const low = source + 64 * half + 16 * part
        const scales = source + 192 + 8 * half + part
        const to = target + 512 * half + 64 * part
        const a = v128.load(low)
        const b = v128.load(low, 32)
        const planes = v128.load(source + 128 + 32 * half + 16 * part)
        put(lowHalves(a), highBits(planes, 0), d, scales, to)
        put(lowHalves(b), highBits(planes, 2), d, scales + 2, to + 128)
        put(highHalves(a), highBits(planes, 4), d, scales + 4, to + 256)
        put(highHalves(b), highBits(planes, 6), d, scales + 6, to + 384)
      }
    }
    source += 210
    target += 1024
  }
}
