// The K types: blocks of 256 values in sub-blocks of 16 or 32, each with a short scale of its own, and in some types a minimum. Codes are
// stored in bit planes.
import { f16At, highNibbles, lowNibbles, putScaled, putShifted } from './lanes'

// Q4_K and Q5_K: eight sub-blocks with a scale and a minimum of six bits each. Q5_K has a plane for the fifth bits.

/** The first four scales and minimums are stored as they are, the others in the bits left over. */
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
    const d = f16At(source)
    const dmin = f16At(source + 2)
    for (let pair = 0; pair < 8; pair += 2) {
      const codes = source + 16 + 16 * pair
      const first = v128.load(codes)
      const second = v128.load(codes, 16)
      let factor = f32x4.splat(d * <f32>scaleAt(source + 4, pair))
      let offset = f32x4.splat(dmin * <f32>minAt(source + 4, pair))
      putShifted(lowNibbles(first), factor, offset, target)
      putShifted(lowNibbles(second), factor, offset, target + 64)
      factor = f32x4.splat(d * <f32>scaleAt(source + 4, pair + 1))
      offset = f32x4.splat(dmin * <f32>minAt(source + 4, pair + 1))
      putShifted(highNibbles(first), factor, offset, target + 128)
      putShifted(highNibbles(second), factor, offset, target + 192)
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
    const d = f16At(source)
    const dmin = f16At(source + 2)
    const plane1 = v128.load(source, 16)
    const plane2 = v128.load(source, 32)
    for (let pair = 0; pair < 8; pair += 2) {
      const codes = source + 48 + 16 * pair
      const first = v128.load(codes)
      const second = v128.load(codes, 16)
      let factor = f32x4.splat(d * <f32>scaleAt(source + 4, pair))
      let offset = f32x4.splat(dmin * <f32>minAt(source + 4, pair))
      putShifted(v128.or(lowNibbles(first), fifthBits(plane1, pair)), factor, offset, target)
      putShifted(v128.or(lowNibbles(second), fifthBits(plane2, pair)), factor, offset, target + 64)
      factor = f32x4.splat(d * <f32>scaleAt(source + 4, pair + 1))
      offset = f32x4.splat(dmin * <f32>minAt(source + 4, pair + 1))
      putShifted(v128.or(highNibbles(first), fifthBits(plane1, pair + 1)), factor, offset, target + 128)
      putShifted(v128.or(highNibbles(second), fifthBits(plane2, pair + 1)), factor, offset, target + 192)
      target += 256
    }
    source += 176
  }
}

// Q2_K and Q3_K: sixteen sub-blocks, two bits of every code in planes. Q3_K has a plane for the third bits.

/** Bits `shift` and `shift + 1` of each byte. */
function twoBits(planes: v128, shift: i32): v128 {
  return v128.and(i8x16.shr_u(planes, shift), i8x16.splat(3))
}

/** A byte per sub-block: the scale in its low bits, the minimum in its high bits. */
export function decodeQ2_K(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const d = f16At(source + 80)
    const dmin = f16At(source + 82)
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
function signedScaleAt(at: usize, sub: u32): i32 {
  const low = <u32>load<u8>(at + (sub & 7)) >> ((sub & 8) >> 1)
  const high = <u32>load<u8>(at + (sub & 3), 8) >> (2 * (sub >> 2))
  return <i32>((low & 15) | ((high & 3) << 4)) - 32
}

/** The third bit stands for "do not subtract 4". */
export function decodeQ3_K(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const d = f16At(source + 108)
    for (let run: usize = 0; run < 4; run++) {
      const planes = v128.load(source + 16 * run, 32)
      const thirds = v128.load(source + 16 * (run & 1))
      let sub = 4 * (<u32>run & 2) + (<u32>run & 1)
      let to = target + 256 * (run & 2) + 64 * (run & 1)
      for (let shift = 0; shift < 8; shift += 2) {
        const third = v128.and(i8x16.shr_u(thirds, <i32>(sub >> 1)), i8x16.splat(1))
        const codes = i8x16.sub(v128.or(twoBits(planes, shift), i8x16.shl(third, 2)), i8x16.splat(4))
        putScaled(codes, f32x4.splat(d * <f32>signedScaleAt(source + 96, sub)), to)
        sub += 2
        to += 128
      }
    }
    source += 110
    target += 1024
  }
}

// Q6_K: four low bits of each code, then planes with the two high bits, a signed scale per 16 values, and the scale of the block.

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
    const d = f16At(source + 208)
    for (let half: usize = 0; half < 2; half++) {
      for (let part: usize = 0; part < 2; part++) {
        const low = source + 64 * half + 16 * part
        const scales = source + 192 + 8 * half + part
        const to = target + 512 * half + 64 * part
        const a = v128.load(low)
        const b = v128.load(low, 32)
        const planes = v128.load(source + 128 + 32 * half + 16 * part)
        put(lowNibbles(a), highBits(planes, 0), d, scales, to)
        put(lowNibbles(b), highBits(planes, 2), d, scales + 2, to + 128)
        put(highNibbles(a), highBits(planes, 4), d, scales + 4, to + 256)
        put(highNibbles(b), highBits(planes, 6), d, scales + 6, to + 384)
      }
    }
    source += 210
    target += 1024
  }
}
