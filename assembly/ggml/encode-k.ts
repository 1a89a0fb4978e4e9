// The K types: a scale, and in some types a minimum, is fitted to every sub-block and rounded to the few bits that the block has for it; then
// every value is rounded to the nearest code under the scale that a reader will see.
import { error, fitScaleAndMin, min, scale } from './fit-range'
import { putFactors, putSigned } from './fit-signed'
import { chooseSteps, largestOf, putStep } from './fit-steps'
import { codes, fitErrors, minSteps, mins, scaleSteps, scales, signedSteps, values } from './memory-map'
import { roundCodes } from './rounding'
import { widenBlock } from './scratch'

// Q4_K and Q5_K: eight sub-blocks. Q5_K has a plane for the fifth bits.

export function encodeQ4_K(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    encodeSubBlocks(source, target, 15, -1, 20)
    putCodes(target + 16)
    source += 1024
    target += 144
  }
}

export function encodeQ5_K(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    encodeSubBlocks(source, target, 31, -0.5, 15)
    putFifthBits(target + 16)
    putCodes(target + 48)
    source += 1024
    target += 176
  }
}

/** Writes scales and minimums; leaves the codes in `codes`. */
function encodeSubBlocks(source: usize, target: usize, limit: i32, start: f64, last: i32): void {
  widenBlock(source)
  for (let sub: usize = 0; sub < 8; sub++) {
    const at = values + (sub << 8)
    fitScaleAndMin(at, at + 256, <f64>limit, start, 0.1, last, 4)
    store<f64>(scales + (sub << 3), scale)
    store<f64>(mins + (sub << 3), min)
    store<f64>(fitErrors + (sub << 3), error)
  }
  const d = putStep(target, largestOf(scales, 8) / 63)
  const dmin = putStep(target + 2, largestOf(mins, 8) / 63)
  for (let sub: usize = 0; sub < 8; sub++) {
    chooseSteps(values + (sub << 8), values + (sub << 8) + 256, sub, d, dmin, 63, limit)
    const subScale = d * <f64>load<u8>(scaleSteps + sub)
    roundCodes(values, sub << 5, 32, subScale, dmin * <f64>load<u8>(minSteps + sub), <f64>limit)
  }
  putScales(target + 4)
}

/** The first four scales and minimums are stored as they are, the others in the bits left over. */
export function putScales(target: usize): void {
  const s = load<u64>(scaleSteps)
  const m = load<u64>(minSteps)
  const high: u32 = 0x03030303
  const low: u32 = 0x0f0f0f0f
  const laterScales = <u32>(s >> 32)
  const laterMins = <u32>(m >> 32)
  store<u32>(target, <u32>s | (((laterScales >> 4) & high) << 6))
  store<u32>(target, <u32>m | (((laterMins >> 4) & high) << 6), 4)
  store<u32>(target, (laterScales & low) | ((laterMins & low) << 4), 8)
}

/** Two sub-blocks share 32 bytes. */
export function putCodes(target: usize): void {
  const low = i8x16.splat(15)
  for (let i: usize = 0; i < 128; i += 16) {
    const from = codes + ((i & 96) << 1) + (i & 16)
    v128.store(target + i, v128.or(v128.and(v128.load(from), low), i8x16.shl(v128.load(from, 32), 4)))
  }
}

/** Bit n of byte i is the fifth bit of element i of sub-block n. */
export function putFifthBits(target: usize): void {
  for (let part: usize = 0; part < 32; part += 16) {
    let bits = i8x16.splat(0)
    for (let sub: i32 = 0; sub < 8; sub++) {
      bits = v128.or(bits, i8x16.shl(i8x16.shr_u(v128.load(codes + ((<usize>sub) << 5) + part), 4), sub))
    }
    v128.store(target + part, bits)
  }
}

// Q2_K, Q3_K and Q6_K: sixteen sub-blocks, two bits of every code in planes.

export function encodeQ2_K(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    widenBlock(source)
    for (let sub: usize = 0; sub < 16; sub++) {
      fitScaleAndMin(values + (sub << 7), values + (sub << 7) + 128, 3, -0.5, 0.2, 7, 0)
      store<f64>(scales + (sub << 3), scale)
      store<f64>(mins + (sub << 3), min)
      store<f64>(fitErrors + (sub << 3), error)
    }
    const d = putStep(target + 80, largestOf(scales, 16) / 15)
    const dmin = putStep(target + 82, largestOf(mins, 16) / 15)
    for (let sub: usize = 0; sub < 16; sub++) {
      chooseSteps(values + (sub << 7), values + (sub << 7) + 128, sub, d, dmin, 15, 3)
      const subScale = d * <f64>load<u8>(scaleSteps + sub)
      roundCodes(values, sub << 4, 16, subScale, dmin * <f64>load<u8>(minSteps + sub), 3)
    }
    v128.store(target, v128.or(v128.load(scaleSteps), i8x16.shl(v128.load(minSteps), 4)))
    putPlanes(target + 16, 0)
    source += 1024
    target += 84
  }
}

export function encodeQ3_K(source: usize, target: usize, blocks: i32): void {
  putFactors(4, 8, 0.3)
  for (; blocks > 0; blocks--) {
    putSigned(source, target + 108, 4, 8, 32)
    putSignedScalesQ3(target)
    putThirdBits(target)
    putPlanes(target + 32, 0)
    source += 1024
    target += 110
  }
}

export function encodeQ6_K(source: usize, target: usize, blocks: i32): void {
  putFactors(32, 16, 0.4)
  for (; blocks > 0; blocks--) {
    putSigned(source, target + 208, 32, 16, 128)
    for (let sub: usize = 0; sub < 16; sub++) store<i8>(target + sub, load<i8>(signedSteps + (sub << 1)), 192)
    putSix(target)
    source += 1024
    target += 210
  }
}

/** Six bits for each of sixteen scales of Q3_K: the lower four first, then the upper two. */
export function putSignedScalesQ3(target: usize): void {
  memory.fill(target + 96, 0, 12)
  for (let sub: usize = 0; sub < 16; sub++) {
    const code = <u32>(load<i16>(signedSteps + (sub << 1)) + 32)
    orAt(target + 96 + (sub & 7), (code & 15) << (sub & 8 ? 4 : 0))
    orAt(target + 104 + (sub & 3), (code >> 4) << (2 * (<u32>sub >> 2)))
  }
}

/** The codes of Q6_K: the lower four bits, then the upper two. */
export function putSix(target: usize): void {
  const low = i8x16.splat(15)
  for (let i: usize = 0; i < 128; i += 16) {
    const from = codes + ((i & 64) << 1) + (i & 48)
    v128.store(target + i, v128.or(v128.and(v128.load(from), low), i8x16.shl(v128.load(from, 64), 4)))
  }
  putPlanes(target + 128, 4)
}

function orAt(at: usize, bits: u32): void {
  store<u8>(at, load<u8>(at) | bits)
}

/** Two bits of every code: a byte holds elements i, i + 32, i + 64 and i + 96 of its half of the block. */
export function putPlanes(target: usize, shift: i32): void {
  const two = i8x16.splat(3)
  for (let i: usize = 0; i < 64; i += 16) {
    const from = codes + ((i & 32) << 2) + (i & 16)
    const a = v128.and(i8x16.shr_u(v128.load(from), shift), two)
    const b = v128.and(i8x16.shr_u(v128.load(from, 32), shift), two)
    const c = v128.and(i8x16.shr_u(v128.load(from, 64), shift), two)
    const d = v128.and(i8x16.shr_u(v128.load(from, 96), shift), two)
    v128.store(target + i, v128.or(v128.or(a, i8x16.shl(b, 2)), v128.or(i8x16.shl(c, 4), i8x16.shl(d, 6))))
  }
}

/** Bit n of byte i is the third bit of element i + 32 n. */
export function putThirdBits(target: usize): void {
  for (let part: usize = 0; part < 32; part += 16) {
    let bits = i8x16.splat(0)
    for (let n: i32 = 0; n < 8; n++) {
      bits = v128.or(bits, i8x16.shl(i8x16.shr_u(v128.load(codes + ((<usize>n) << 5) + part), 2), n))
    }
    v128.store(target + part, bits)
  }
}
