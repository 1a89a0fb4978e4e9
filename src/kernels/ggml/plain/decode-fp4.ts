// Ternary blocks (-d, 0, d) and the 4-bit floats. The tables of MXFP4 and NVFP4 hold twice the value of a code, and the scales are halved
// in turn, so that everything is a product of integers and powers of two.

import { blockBytes, fieldOffset, layouts } from '../layouts.js'
import { f16At } from './f16-scales.js'

const tq1Size = blockBytes(layouts.tq1_0)
const tq1Last = fieldOffset(layouts.tq1_0, 'qh')
const tq1D = fieldOffset(layouts.tq1_0, 'd')

/**
 * Five ternary digits per byte. The byte is the number 0.abcde (base 3) in 256ths: multiplied by 3^n, the whole part drops out of the
 * byte, and digit n is what a further factor of 3 lifts above it. The groups of bytes are 32, 16 and 4 (with four digits each).
 */
export function decodeTQ1_0(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += tq1Size) {
    const d = f16At(source, at + tq1D)
    to = putTrits(source, at, 32, 5, target, to, d)
    to = putTrits(source, at + 32, 16, 5, target, to, d)
    to = putTrits(source, at + tq1Last, 4, 4, target, to, d)
  }
}

function putTrits(
  source: Uint8Array,
  at: number,
  bytes: number,
  digits: number,
  target: Float32Array,
  to: number,
  d: number,
): number {
  let out = to
  for (let n = 0, power = 1; n < digits; n++, power *= 3) {
    for (let i = 0; i < bytes; i++) {
      const rest = (source[at + i]! * power) & 255
      target[out++] = (((rest * 3) >>> 8) - 1) * d
    }
  }
  return out
}

const tq2Size = blockBytes(layouts.tq2_0)
const tq2D = fieldOffset(layouts.tq2_0, 'd')

/** Two bits per element, in planes of 32 bytes as in Q2_K: (q - 1) * d. */
export function decodeTQ2_0(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += tq2Size) {
    const d = f16At(source, at + tq2D)
    for (let plane = 0; plane < 8; plane++, to += 32) {
      const codes = at + (plane >>> 2) * 32
      const shift = 2 * (plane & 3)
      for (let i = 0; i < 32; i++) target[to + i] = (((source[codes + i]! >>> shift) & 3) - 1) * d
    }
  }
}

/** Twice the values of f4_e2m1. ggml has no minus zero here. */
export const doubledFp4 = Int8Array.of(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12)

const mxSize = blockBytes(layouts.mxfp4)
const mxCodes = fieldOffset(layouts.mxfp4, 'qs')

/** Half of 2^(e-127). The OCP paper calls e = 255 NaN; ggml computes with it. */
export const mxScale = (e: number): number => 2 ** (e - 128)

let mxScales: Float32Array | undefined

export function decodeMXFP4(source: Uint8Array, target: Float32Array, blocks: number): void {
  mxScales ??= Float32Array.from({ length: 256 }, (_, e) => mxScale(e))
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += mxSize, to += 32) {
    const scale = mxScales[source[at]!]!
    const codes = at + mxCodes
    for (let i = 0; i < 16; i++) {
      const byte = source[codes + i]!
      target[to + i] = scale * doubledFp4[byte & 15]!
      target[to + i + 16] = scale * doubledFp4[byte >>> 4]!
    }
  }
}

const nvSize = blockBytes(layouts.nvfp4)
const nvCodes = fieldOffset(layouts.nvfp4, 'qs')

/** Half of an unsigned float with four bits of exponent and three of mantissa. The sign bit has no meaning, and 0x7f is zero. */
export function nvScale(code: number): number {
  if (code === 0x7f) return 0
  const exponent = (code >>> 3) & 15
  const mantissa = code & 7
  return 0.5 * (exponent === 0 ? mantissa * 2 ** -9 : (1 + mantissa / 8) * 2 ** (exponent - 7))
}

let nvScales: Float32Array | undefined

/** Four groups of 16 elements with a scale each; the low nibbles of a group's 8 bytes are its first eight elements. */
export function decodeNVFP4(source: Uint8Array, target: Float32Array, blocks: number): void {
  nvScales ??= Float32Array.from({ length: 256 }, (_, code) => nvScale(code))
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += nvSize) {
    for (let group = 0, codes = at + nvCodes; group < 4; group++, codes += 8, to += 16) {
      const scale = nvScales[source[at + group]!]!
      for (let i = 0; i < 8; i++) {
        const byte = source[codes + i]!
        target[to + i] = scale * doubledFp4[byte & 15]!
        target[to + i + 8] = scale * doubledFp4[byte >>> 4]!
      }
    }
  }
}
