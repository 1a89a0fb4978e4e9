// Encoders for blocks of 256 in sixteen sub-blocks, with two bits of every code in planes: Q2_K, Q3_K and Q6_K.
import { roundCodes } from './codes'
import { fitScaleAndMin, min, scale } from './fit-range'
import { fitSigned, signedSteps } from './fit-signed'
import { chooseSteps, largestOf, putStep } from './fit-steps'
import { codes, minSteps, mins, scaleSteps, scales, toWeight, values, widenBlock } from './room'

export function encodeQ2_K(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    widenBlock(source)
    // The weight of a value is its magnitude.
    for (let at = values; at < values + 2048; at += 16) v128.store(at, f64x2.abs(v128.load(at)), toWeight)
    for (let sub: usize = 0; sub < 16; sub++) {
      fitScaleAndMin(values + (sub << 7), values + (sub << 7) + 128, 3, -0.5, 15)
      store<f64>(scales + (sub << 3), scale)
      store<f64>(mins + (sub << 3), min)
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
  for (; blocks > 0; blocks--) {
    widenBlock(source)
    const d = putStep(target + 108, fitSigned(values, 4) / -32)
    memory.fill(target + 96, 0, 12)
    for (let sub: usize = 0; sub < 16; sub++) {
      const steps = signedSteps(load<f64>(scales + (sub << 3)), d, 32)
      const code = <u32>(<i32>steps + 32)
      orAt(target + 96 + (sub & 7), (code & 15) << (sub & 8 ? 4 : 0))
      orAt(target + 104 + (sub & 3), (code >> 4) << (2 * (<u32>sub >> 2)))
      roundCodes(values, sub << 4, 16, d * steps, 4 * d * steps, 7)
    }
    putThirdBits(target)
    putPlanes(target + 32, 0)
    source += 1024
    target += 110
  }
}

export function encodeQ6_K(source: usize, target: usize, blocks: i32): void {
  const low = i8x16.splat(15)
  for (; blocks > 0; blocks--) {
    widenBlock(source)
    const d = putStep(target + 208, fitSigned(values, 32) / -128)
    for (let sub: usize = 0; sub < 16; sub++) {
      const steps = signedSteps(load<f64>(scales + (sub << 3)), d, 128)
      store<i8>(target + sub, <i8>(<i32>steps), 192)
      roundCodes(values, sub << 4, 16, d * steps, 32 * d * steps, 63)
    }
    for (let i: usize = 0; i < 128; i += 16) {
      const from = codes + ((i & 64) << 1) + (i & 48)
      v128.store(target + i, v128.or(v128.and(v128.load(from), low), i8x16.shl(v128.load(from, 64), 4)))
    }
    putPlanes(target + 128, 4)
    source += 1024
    target += 210
  }
}

function orAt(at: usize, bits: u32): void {
  store<u8>(at, load<u8>(at) | bits)
}

/** Two bits of every code: a byte holds elements i, i + 32, i + 64 and i + 96 of its half of the block. */
function putPlanes(target: usize, shift: i32): void {
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
function putThirdBits(target: usize): void {
  for (let part: usize = 0; part < 32; part += 16) {
    let bits = i8x16.splat(0)
    for (let n: i32 = 0; n < 8; n++) {
      bits = v128.or(bits, i8x16.shl(i8x16.shr_u(v128.load(codes + ((<usize>n) << 5) + part), 2), n))
    }
    v128.store(target + part, bits)
  }
}
