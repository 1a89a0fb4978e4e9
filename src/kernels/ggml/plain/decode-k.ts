// The K types: blocks of 256 elements in sub-blocks of 16 or 32, each with a short scale of its own (and a minimum, in some), which the
// f16 scales of the block multiply. Codes are cut into bit planes so that vector units can take them apart.

import { blockBytes, fieldOffset, layouts } from '../layouts.js'
import { f16At } from './f16-scales.js'

const q2Size = blockBytes(layouts.q2_k)
const q2Codes = fieldOffset(layouts.q2_k, 'qs')
const q2D = fieldOffset(layouts.q2_k, 'd')
const q2Min = fieldOffset(layouts.q2_k, 'dmin')

/** A byte per sub-block of 16: the scale in its low bits, the minimum in its high bits. */
export function decodeQ2_K(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += q2Size) {
    const d = f16At(source, at + q2D)
    const dmin = f16At(source, at + q2Min)
    for (let sub = 0; sub < 16; sub++, to += 16) {
      const packed = source[at + sub]!
      const scale = d * (packed & 15)
      const min = dmin * (packed >>> 4)
      const codes = at + q2Codes + planeOffset(sub)
      const shift = sub & 6
      for (let i = 0; i < 16; i++) target[to + i] = scale * ((source[codes + i]! >>> shift) & 3) - min
    }
  }
}

/**
 * Two-bit codes lie in planes: a byte holds elements i, i+32, i+64 and i+96 of its half of the block. So the bits of sub-block n start at
 * this byte and are shifted up by n & 6.
 */
export const planeOffset = (sub: number): number => (sub >>> 3) * 32 + (sub & 1) * 16

const q3Size = blockBytes(layouts.q3_k)
const q3Codes = fieldOffset(layouts.q3_k, 'qs')
const q3Scales = fieldOffset(layouts.q3_k, 'scales')
const q3D = fieldOffset(layouts.q3_k, 'd')

/** The third bit has a plane of its own, where it stands for "do not subtract 4". Scales have six bits and an offset of 32. */
export function decodeQ3_K(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += q3Size) {
    const d = f16At(source, at + q3D)
    for (let sub = 0; sub < 16; sub++, to += 16) {
      const low = source[at + q3Scales + (sub & 7)]! >>> (sub & 8 ? 4 : 0)
      const high = source[at + q3Scales + 8 + (sub & 3)]! >>> (2 * (sub >>> 2))
      const scale = d * (((low & 15) | ((high & 3) << 4)) - 32)
      const codes = at + q3Codes + planeOffset(sub)
      const mask = at + (sub & 1) * 16
      const shift = sub & 6
      const bit = sub >>> 1
      for (let i = 0; i < 16; i++) {
        const code = ((source[codes + i]! >>> shift) & 3) | (((source[mask + i]! >>> bit) & 1) << 2)
        target[to + i] = scale * (code - 4)
      }
    }
  }
}

/** Twelve bytes hold eight scales and eight minimums of six bits each: four of each as they are, the others in the bits left over. */
export function scaleAt(source: Uint8Array, at: number, sub: number): number {
  return sub < 4 ? source[at + sub]! & 63 : (source[at + sub + 4]! & 15) | ((source[at + sub - 4]! >>> 6) << 4)
}

export function minAt(source: Uint8Array, at: number, sub: number): number {
  return sub < 4 ? source[at + sub + 4]! & 63 : (source[at + sub + 4]! >>> 4) | ((source[at + sub]! >>> 6) << 4)
}

const q4Size = blockBytes(layouts.q4_k)
const q4Min = fieldOffset(layouts.q4_k, 'dmin')
const q4Scales = fieldOffset(layouts.q4_k, 'scales')
const q4Codes = fieldOffset(layouts.q4_k, 'qs')

/** Two sub-blocks of 32 share 32 bytes: one in the low bits, the next in the high bits. */
export function decodeQ4_K(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += q4Size) {
    const d = f16At(source, at)
    const dmin = f16At(source, at + q4Min)
    const scales = at + q4Scales
    for (let pair = 0, codes = at + q4Codes; pair < 8; pair += 2, codes += 32, to += 64) {
      const scale1 = d * scaleAt(source, scales, pair)
      const scale2 = d * scaleAt(source, scales, pair + 1)
      const min1 = dmin * minAt(source, scales, pair)
      const min2 = dmin * minAt(source, scales, pair + 1)
      for (let i = 0; i < 32; i++) {
        const byte = source[codes + i]!
        target[to + i] = scale1 * (byte & 15) - min1
        target[to + i + 32] = scale2 * (byte >>> 4) - min2
      }
    }
  }
}

const q5Size = blockBytes(layouts.q5_k)
const q5Min = fieldOffset(layouts.q5_k, 'dmin')
const q5Scales = fieldOffset(layouts.q5_k, 'scales')
const q5High = fieldOffset(layouts.q5_k, 'qh')
const q5Codes = fieldOffset(layouts.q5_k, 'qs')

/** As Q4_K; bit n of byte i of `qh` is the fifth bit of element i of sub-block n. */
export function decodeQ5_K(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += q5Size) {
    const d = f16At(source, at)
    const dmin = f16At(source, at + q5Min)
    const scales = at + q5Scales
    const high = at + q5High
    for (let pair = 0, codes = at + q5Codes; pair < 8; pair += 2, codes += 32, to += 64) {
      const scale1 = d * scaleAt(source, scales, pair)
      const scale2 = d * scaleAt(source, scales, pair + 1)
      const min1 = dmin * minAt(source, scales, pair)
      const min2 = dmin * minAt(source, scales, pair + 1)
      for (let i = 0; i < 32; i++) {
        const byte = source[codes + i]!
        const fifth = source[high + i]! >>> pair
        target[to + i] = scale1 * ((byte & 15) | ((fifth & 1) << 4)) - min1
        target[to + i + 32] = scale2 * ((byte >>> 4) | ((fifth & 2) << 3)) - min2
      }
    }
  }
}

const q6Size = blockBytes(layouts.q6_k)
const q6High = fieldOffset(layouts.q6_k, 'qh')
const q6Scales = fieldOffset(layouts.q6_k, 'scales')
const q6D = fieldOffset(layouts.q6_k, 'd')

/** Signed scales of eight bits per 16 elements; codes have an offset of 32, four low bits in `ql` and two high bits in planes. */
export function decodeQ6_K(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += q6Size) {
    const d = f16At(source, at + q6D)
    for (let half = 0; half < 2; half++, to += 128) {
      for (let part = 0; part < 2; part++) {
        const scales = at + q6Scales + half * 8 + part
        const scale1 = d * ((source[scales]! << 24) >> 24)
        const scale2 = d * ((source[scales + 2]! << 24) >> 24)
        const scale3 = d * ((source[scales + 4]! << 24) >> 24)
        const scale4 = d * ((source[scales + 6]! << 24) >> 24)
        const low = at + half * 64 + part * 16
        const high = at + q6High + half * 32 + part * 16
        const out = to + part * 16
        for (let i = 0; i < 16; i++) {
          const a = source[low + i]!
          const b = source[low + i + 32]!
          const top = source[high + i]!
          target[out + i] = scale1 * (((a & 15) | ((top & 3) << 4)) - 32)
          target[out + i + 32] = scale2 * (((b & 15) | ((top & 12) << 2)) - 32)
          target[out + i + 64] = scale3 * (((a >>> 4) | (top & 48)) - 32)
          target[out + i + 96] = scale4 * (((b >>> 4) | ((top & 192) >>> 2)) - 32)
        }
      }
    }
  }
}

const q8Size = blockBytes(layouts.q8_k)
const q8Codes = fieldOffset(layouts.q8_k, 'qs')

/** An f32 scale and signed bytes; made for activations. The sums at the end serve dot products. */
export function decodeQ8_K(source: Uint8Array, target: Float32Array, blocks: number): void {
  const view = new DataView(source.buffer, source.byteOffset, source.byteLength)
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += q8Size, to += 256) {
    const d = view.getFloat32(at, true)
    const codes = at + q8Codes
    for (let i = 0; i < 256; i++) target[to + i] = d * ((source[codes + i]! << 24) >> 24)
  }
}
