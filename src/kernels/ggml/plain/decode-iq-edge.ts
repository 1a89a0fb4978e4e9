// The two ends of the IQ family. IQ1 takes vectors of -1, 0 and 1 and moves all of a group by an eighth, up or down. IQ4 has no lattice: its
// sixteen codes stand for numbers that are denser around zero.

import { blockBytes, fieldOffset, layouts } from '../layouts.js'
import { f16At, f16Value } from './f16-scales.js'
import { lattice1 } from './lattices.js'

/** Writes the eight elements scale * (component + shift). */
function putShifted(
  target: Float32Array,
  to: number,
  lattice: Int8Array,
  from: number,
  scale: number,
  shift: number,
): void {
  for (let i = 0; i < 8; i++) target[to + i] = scale * (lattice[from + i]! + shift)
}

const s1Size = blockBytes(layouts.iq1_s)
const s1Codes = fieldOffset(layouts.iq1_s, 'qs')
const s1High = fieldOffset(layouts.iq1_s, 'qh')

/** A 16-bit word per 32 elements: the upper three bits of four codes, three bits of scale, the sign of the shift. */
export function decodeIQ1_S(source: Uint8Array, target: Float32Array, blocks: number): void {
  const lattice = lattice1()
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += s1Size) {
    const d = f16At(source, at)
    for (let sub = 0, codes = at + s1Codes; sub < 8; sub++) {
      const word = source[at + s1High + 2 * sub]! | (source[at + s1High + 2 * sub + 1]! << 8)
      const scale = d * (2 * ((word >>> 12) & 7) + 1)
      const shift = word & 0x8000 ? -0.125 : 0.125
      for (let k = 0; k < 4; k++, codes++, to += 8) {
        const code = source[codes]! | (((word >>> (3 * k)) & 7) << 8)
        putShifted(target, to, lattice, code * 8, scale, shift)
      }
    }
  }
}

const m1Size = blockBytes(layouts.iq1_m)
const m1High = fieldOffset(layouts.iq1_m, 'qh')
const m1Scales = fieldOffset(layouts.iq1_m, 'scales')

/** The scale of an IQ1_M block has no field of its own: the top four bits of the four scale words make up the f16, lowest first. */
export function scaleCodeIQ1_M(source: Uint8Array, at: number): number {
  const scales = at + m1Scales + 1
  return (
    (source[scales]! >>> 4) |
    (source[scales + 2]! & 0xf0) |
    ((source[scales + 4]! & 0xf0) << 4) |
    ((source[scales + 6]! & 0xf0) << 8)
  )
}

/** Twelve bits of each scale word serve 64 elements, three per 16. Four bits per code: the upper three of the index, the shift's sign. */
export function decodeIQ1_M(source: Uint8Array, target: Float32Array, blocks: number): void {
  const lattice = lattice1()
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += m1Size) {
    const d = f16Value(scaleCodeIQ1_M(source, at))
    for (let k = 0; k < 32; k++, to += 8) {
      const word = at + m1Scales + 2 * (k >>> 3)
      const scaleBits = (source[word]! | (source[word + 1]! << 8)) >>> (3 * ((k >>> 1) & 3))
      const high = source[at + m1High + (k >>> 1)]! >>> (k & 1 ? 4 : 0)
      const scale = d * (2 * (scaleBits & 7) + 1)
      putShifted(target, to, lattice, (source[at + k]! | ((high & 7) << 8)) * 8, scale, high & 8 ? -0.125 : 0.125)
    }
  }
}

export const levels4 = Int8Array.of(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)

const nl4Size = blockBytes(layouts.iq4_nl)
const nl4Codes = fieldOffset(layouts.iq4_nl, 'qs')

/** Laid out as Q4_0. */
export function decodeIQ4_NL(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += nl4Size, to += 32) {
    const d = f16At(source, at)
    const codes = at + nl4Codes
    for (let i = 0; i < 16; i++) {
      const byte = source[codes + i]!
      target[to + i] = d * levels4[byte & 15]!
      target[to + i + 16] = d * levels4[byte >>> 4]!
    }
  }
}

const xs4Size = blockBytes(layouts.iq4_xs)
const xs4High = fieldOffset(layouts.iq4_xs, 'scalesHigh')
const xs4Low = fieldOffset(layouts.iq4_xs, 'scalesLow')
const xs4Codes = fieldOffset(layouts.iq4_xs, 'qs')

/** The same in sub-blocks of 32 with scales of six bits, offset by 32, cut into four low and two high bits. */
export function decodeIQ4_XS(source: Uint8Array, target: Float32Array, blocks: number): void {
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += xs4Size) {
    const d = f16At(source, at)
    const highs = source[at + xs4High]! | (source[at + xs4High + 1]! << 8)
    for (let sub = 0, codes = at + xs4Codes; sub < 8; sub++, codes += 16, to += 32) {
      const low = (source[at + xs4Low + (sub >>> 1)]! >>> (sub & 1 ? 4 : 0)) & 15
      const scale = d * ((low | (((highs >>> (2 * sub)) & 3) << 4)) - 32)
      for (let i = 0; i < 16; i++) {
        const byte = source[codes + i]!
        target[to + i] = scale * levels4[byte & 15]!
        target[to + i + 16] = scale * levels4[byte >>> 4]!
      }
    }
  }
}
