// Encoders for blocks of 256 in eight sub-blocks, each with a scale and a minimum of six bits: Q4_K, and Q5_K with a plane for the fifth bit.
import { roundCodes } from './codes'
import { fitScaleAndMin, min, scale } from './fit-range'
import { chooseSteps, largestOf, putStep } from './fit-steps'
import { codes, minSteps, mins, scaleSteps, scales, toWeight, values, widenBlock } from './room'

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

/** Writes scales and minimums; leaves the codes in the room. */
function encodeSubBlocks(source: usize, target: usize, limit: i32, start: f64, last: i32): void {
  widenBlock(source)
  for (let sub: usize = 0; sub < 8; sub++) {
    const at = values + (sub << 8)
    weigh(at)
    fitScaleAndMin(at, at + 256, <f64>limit, start, last)
    store<f64>(scales + (sub << 3), scale)
    store<f64>(mins + (sub << 3), min)
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

/** The magnitude plus its quadratic mean over the sub-block. */
function weigh(from: usize): void {
  let squares: f64 = 0
  for (let at = from; at < from + 256; at += 8) squares += load<f64>(at) * load<f64>(at)
  const mean = f64x2.splat(sqrt(squares / 32))
  for (let at = from; at < from + 256; at += 16) {
    v128.store(at, f64x2.add(mean, f64x2.abs(v128.load(at))), toWeight)
  }
}

/** Four of each as they are, the others in the bits left over. */
function putScales(target: usize): void {
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
function putCodes(target: usize): void {
  const low = i8x16.splat(15)
  for (let i: usize = 0; i < 128; i += 16) {
    const from = codes + ((i & 96) << 1) + (i & 16)
    v128.store(target + i, v128.or(v128.and(v128.load(from), low), i8x16.shl(v128.load(from, 32), 4)))
  }
}

/** Bit n of byte i is the fifth bit of element i of sub-block n. */
function putFifthBits(target: usize): void {
  for (let part: usize = 0; part < 32; part += 16) {
    let bits = i8x16.splat(0)
    for (let sub: i32 = 0; sub < 8; sub++) {
      bits = v128.or(bits, i8x16.shl(i8x16.shr_u(v128.load(codes + ((<usize>sub) << 5) + part), 4), sub))
    }
    v128.store(target + part, bits)
  }
}
