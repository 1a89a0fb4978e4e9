// Codes of more than one block type are packed alike: nibbles with the fifth bits apart, pairs of bits in planes, scales of six bits.
import { planeOffset } from './decode-k.js'

type Codes = Uint8Array | Int8Array

/** 32 codes of four bits: the second half goes into the upper nibbles. */
export function putNibbles(codes: Codes, from: number, target: Uint8Array, at: number): void {
  for (let i = 0; i < 16; i++) target[at + i] = (codes[from + i]! & 15) | ((codes[from + i + 16]! & 15) << 4)
}

/** The fifth bits of 32 codes, eight to a byte. */
export function putFifthBits(codes: Codes, target: Uint8Array, at: number): void {
  for (let byte = 0; byte < 4; byte++) {
    let bits = 0
    for (let i = 0; i < 8; i++) bits |= (codes[8 * byte + i]! >>> 4) << i
    target[at + byte] = bits
  }
}

/** Two bits of each of 256 codes, in planes. */
export function putPlanes(codes: Codes, target: Uint8Array, at: number, shift: number): void {
  target.fill(0, at, at + 64)
  for (let sub = 0; sub < 16; sub++) {
    const bytes = at + planeOffset(sub)
    for (let i = 0; i < 16; i++) target[bytes + i]! |= ((codes[sub * 16 + i]! >>> shift) & 3) << (sub & 6)
  }
}

/** 256 codes of Q4_K, or the lower four bits of Q5_K: two sub-blocks of 32 share 32 bytes. */
export function putPairs(codes: Codes, target: Uint8Array, at: number): void {
  for (let sub = 0; sub < 8; sub += 2) {
    const bytes = at + 16 * sub
    for (let i = 0; i < 32; i++) {
      target[bytes + i] = (codes[32 * sub + i]! & 15) | ((codes[32 * sub + 32 + i]! & 15) << 4)
    }
  }
}

/** The fifth bits of Q5_K: bit n of byte i is of element i of sub-block n. */
export function putFifthPlanes(codes: Codes, target: Uint8Array, at: number): void {
  for (let i = 0; i < 32; i++) {
    let bits = 0
    for (let sub = 0; sub < 8; sub++) bits |= (codes[32 * sub + i]! >>> 4) << sub
    target[at + i] = bits
  }
}

/** The third bits of Q3_K, which has an offset of four: bit n of byte i is of element i of the n-th 32. */
export function putThirdPlanes(codes: Codes, target: Uint8Array, at: number): void {
  target.fill(0, at, at + 32)
  for (let i = 0; i < 256; i++) target[at + (i & 31)]! |= (codes[i]! >>> 2) << (i >>> 5)
}

/** The lower four bits of Q6_K. */
export function putLowSix(codes: Codes, target: Uint8Array, at: number): void {
  for (let half = 0; half < 2; half++) {
    for (let i = 0; i < 64; i++) {
      const first = 128 * half + i
      target[at + 64 * half + i] = (codes[first]! & 15) | ((codes[first + 64]! & 15) << 4)
    }
  }
}

/** Eight scales and eight minimums of six bits each (Q4_K, Q5_K). */
export function putScalesAndMins(scales: Uint8Array, mins: Uint8Array, target: Uint8Array, at: number): void {
  for (let sub = 0; sub < 4; sub++) {
    target[at + sub] = scales[sub]! | ((scales[sub + 4]! >>> 4) << 6)
    target[at + sub + 4] = mins[sub]! | ((mins[sub + 4]! >>> 4) << 6)
    target[at + sub + 8] = (scales[sub + 4]! & 15) | ((mins[sub + 4]! & 15) << 4)
  }
}

/** One of the sixteen scales of Q3_K, six bits with an offset of 32. The twelve bytes are zero at first. */
export function putScaleQ3(code: number, sub: number, target: Uint8Array, at: number): void {
  target[at + (sub & 7)]! |= (code & 15) << (sub & 8 ? 4 : 0)
  target[at + 8 + (sub & 3)]! |= (code >>> 4) << (2 * (sub >>> 2))
}
