// The first generation of types: short blocks with one f16 scale d, some with an f16 offset m. A byte of 4-bit codes holds an element of
// the first half of the block in its low bits and one of the second half in its high bits.
//
// Here and in the other decoders the arithmetic is done in f64 and rounded when a value is stored. That gives the bits of the C code,
// which rounds to f32 after every step: scales have 11 significant bits and codes few, so every step but the last is exact.

import { blockBytes, type DecodeBlocks, fieldOffset, layouts } from '../layouts.js'
import { f16At } from './f16-scales.js'

const q4_0Size = blockBytes(layouts.q4_0)
const q4_0Codes = fieldOffset(layouts.q4_0, 'qs')

/** (q - 8) * d */
export function decodeQ4_0(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += q4_0Size, to += 32) {
    const d = f16At(source, at)
    const codes = at + q4_0Codes
    for (let i = 0; i < 16; i++) {
      const byte = source[codes + i]!
      target[to + i] = ((byte & 15) - 8) * d
      target[to + i + 16] = ((byte >>> 4) - 8) * d
    }
  }
}

const q4_1Size = blockBytes(layouts.q4_1)
const q4_1Codes = fieldOffset(layouts.q4_1, 'qs')

/** q * d + m */
export function decodeQ4_1(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += q4_1Size, to += 32) {
    const d = f16At(source, at)
    const m = f16At(source, at + 2)
    const codes = at + q4_1Codes
    for (let i = 0; i < 16; i++) {
      const byte = source[codes + i]!
      target[to + i] = (byte & 15) * d + m
      target[to + i + 16] = (byte >>> 4) * d + m
    }
  }
}

const q5_0Size = blockBytes(layouts.q5_0)
const q5_0High = fieldOffset(layouts.q5_0, 'qh')
const q5_0Codes = fieldOffset(layouts.q5_0, 'qs')

/** (q - 16) * d; the fifth bits of all 32 elements form one little-endian word. */
export function decodeQ5_0(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += q5_0Size, to += 32) {
    const d = f16At(source, at)
    const high = wordAt(source, at + q5_0High)
    const codes = at + q5_0Codes
    for (let i = 0; i < 16; i++) {
      const byte = source[codes + i]!
      target[to + i] = (((byte & 15) | (((high >>> i) & 1) << 4)) - 16) * d
      target[to + i + 16] = (((byte >>> 4) | (((high >>> (i + 16)) & 1) << 4)) - 16) * d
    }
  }
}

const q5_1Size = blockBytes(layouts.q5_1)
const q5_1High = fieldOffset(layouts.q5_1, 'qh')
const q5_1Codes = fieldOffset(layouts.q5_1, 'qs')

/** q * d + m */
export function decodeQ5_1(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += q5_1Size, to += 32) {
    const d = f16At(source, at)
    const m = f16At(source, at + 2)
    const high = wordAt(source, at + q5_1High)
    const codes = at + q5_1Codes
    for (let i = 0; i < 16; i++) {
      const byte = source[codes + i]!
      target[to + i] = ((byte & 15) | (((high >>> i) & 1) << 4)) * d + m
      target[to + i + 16] = ((byte >>> 4) | (((high >>> (i + 16)) & 1) << 4)) * d + m
    }
  }
}

export function wordAt(source: Uint8Array, at: number): number {
  return source[at]! | (source[at + 1]! << 8) | (source[at + 2]! << 16) | (source[at + 3]! << 24)
}

/** q * d with signed bytes. Q8_1 has the sum of the values beside the scale, for dot products; it is not needed here. */
function decodeBytes(source: Uint8Array, target: Float32Array, blocks: number, size: number, codesAt: number): void {
  const signed = new Int8Array(source.buffer, source.byteOffset, source.byteLength)
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += size) {
    const d = f16At(source, at)
    for (let code = at + codesAt, end = code + 32; code < end; code += 4, to += 4) {
      target[to] = signed[code]! * d
      target[to + 1] = signed[code + 1]! * d
      target[to + 2] = signed[code + 2]! * d
      target[to + 3] = signed[code + 3]! * d
    }
  }
}

const q8_0Size = blockBytes(layouts.q8_0)
const q8_0Codes = fieldOffset(layouts.q8_0, 'qs')
const q8_1Size = blockBytes(layouts.q8_1)
const q8_1Codes = fieldOffset(layouts.q8_1, 'qs')

export const decodeQ8_0: DecodeBlocks = (source, target, blocks) =>
  decodeBytes(source, target, blocks, q8_0Size, q8_0Codes)
export const decodeQ8_1: DecodeBlocks = (source, target, blocks) =>
  decodeBytes(source, target, blocks, q8_1Size, q8_1Codes)

const q1_0Size = blockBytes(layouts.q1_0)
const q1_0Codes = fieldOffset(layouts.q1_0, 'qs')

/** One bit each, lowest first: +d or -d. */
export function decodeQ1_0(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += q1_0Size, to += 128) {
    const d = f16At(source, at)
    const codes = at + q1_0Codes
    for (let i = 0; i < 128; i++) target[to + i] = (source[codes + (i >>> 3)]! >>> (i & 7)) & 1 ? d : -d
  }
}

const q2_0Size = blockBytes(layouts.q2_0)
const q2_0Codes = fieldOffset(layouts.q2_0, 'qs')

/** Two bits each, lowest first: (q - 1) * d. */
export function decodeQ2_0(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += q2_0Size, to += 64) {
    const d = f16At(source, at)
    const codes = at + q2_0Codes
    for (let i = 0; i < 64; i++) target[to + i] = (((source[codes + (i >>> 2)]! >>> (2 * (i & 3))) & 3) - 1) * d
  }
}
