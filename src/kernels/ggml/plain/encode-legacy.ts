// Encoders of the first generation. The scale follows from the largest value alone, and every step rounds to f32, so the bytes equal those of
// ggml's own quantizers.

import { blockBytes, type EncodeBlocks, fieldOffset, layouts } from '../layouts.js'
import { putF16 } from './f16-scales.js'
import { putFifthBits, putNibbles } from './pack-codes.js'

const { fround } = Math

/** The value with the largest magnitude, the first of them if there are several. */
function extremeOf(source: Float32Array, from: number, count: number): number {
  let extreme = 0
  for (let i = from; i < from + count; i++) {
    if (Math.abs(source[i]!) > Math.abs(extreme)) extreme = source[i]!
  }
  return extreme
}

const inverse = (scale: number): number => (scale === 0 ? 0 : fround(1 / scale))

/** Truncates and clamps to [0, limit]; NaN becomes 0. */
function codeOf(value: number, limit: number): number {
  const code = Math.trunc(fround(value))
  return code > 0 ? Math.min(code, limit) : 0
}

interface Place {
  readonly size: number
  readonly codes: number
  readonly high?: number
}

const placeOf = (name: 'q4_0' | 'q4_1' | 'q5_0' | 'q5_1'): Place => ({
  size: blockBytes(layouts[name]),
  codes: fieldOffset(layouts[name], 'qs'),
  ...(name.startsWith('q5') && { high: fieldOffset(layouts[name], 'qh') }),
})

/** Q4_0 and Q5_0: the extreme value gets the code 0, which is the only one with the full range. */
function encodeSymmetric(place: Place, middle: number): EncodeBlocks {
  const codes = new Uint8Array(32)
  return (source, target, blocks) => {
    for (let block = 0, from = 0, at = 0; block < blocks; block++, from += 32, at += place.size) {
      const scale = fround(extremeOf(source, from, 32) / -middle)
      const factor = inverse(scale)
      putF16(target, at, scale)
      for (let i = 0; i < 32; i++) {
        codes[i] = codeOf(fround(source[from + i]! * factor) + middle + 0.5, 2 * middle - 1)
      }
      putNibbles(codes, 0, target, at + place.codes)
      if (place.high) putFifthBits(codes, target, at + place.high)
    }
  }
}

export const encodeQ4_0 = encodeSymmetric(placeOf('q4_0'), 8)
export const encodeQ5_0 = encodeSymmetric(placeOf('q5_0'), 16)

/** Q4_1 and Q5_1: from the smallest value up to the largest. */
function encodeRange(place: Place, limit: number): EncodeBlocks {
  const codes = new Uint8Array(32)
  return (source, target, blocks) => {
    for (let block = 0, from = 0, at = 0; block < blocks; block++, from += 32, at += place.size) {
      let min = source[from]!
      let max = min
      for (let i = from; i < from + 32; i++) {
        if (source[i]! < min) min = source[i]!
        if (source[i]! > max) max = source[i]!
      }
      const scale = fround(fround(max - min) / limit)
      const factor = inverse(scale)
      putF16(target, at, scale)
      putF16(target, at + 2, min)
      for (let i = 0; i < 32; i++) codes[i] = codeOf(fround(fround(source[from + i]! - min) * factor) + 0.5, limit)
      putNibbles(codes, 0, target, at + place.codes)
      if (place.high) putFifthBits(codes, target, at + place.high)
    }
  }
}

export const encodeQ4_1 = encodeRange(placeOf('q4_1'), 15)
export const encodeQ5_1 = encodeRange(placeOf('q5_1'), 31)

const q8_0Size = blockBytes(layouts.q8_0)
const q8_0Codes = fieldOffset(layouts.q8_0, 'qs')

export function encodeQ8_0(source: Float32Array, target: Uint8Array, blocks: number): void {
  for (let block = 0, from = 0, at = 0; block < blocks; block++, from += 32, at += q8_0Size) {
    const scale = fround(Math.abs(extremeOf(source, from, 32)) / 127)
    const factor = inverse(scale)
    putF16(target, at, scale)
    for (let i = 0; i < 32; i++) {
      // Halves are rounded away from zero.
      const value = fround(source[from + i]! * factor)
      target[at + q8_0Codes + i] = value < 0 ? -Math.floor(0.5 - value) : Math.floor(value + 0.5)
    }
  }
}
