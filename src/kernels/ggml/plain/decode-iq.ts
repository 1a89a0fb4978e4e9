// IQ2 and IQ3: a code picks a vector of magnitudes from a lattice, and signs are stored apart. The smaller types store seven of eight
// signs and let the eighth make the number of minuses even. Scales are odd multiples of a small fraction of d, per 16 or 32 elements.

import { blockBytes, fieldOffset, layouts } from '../layouts.js'
import { wordAt } from './decode-legacy.js'
import { f16At } from './f16-scales.js'
import { lattice2s, lattice2xs, lattice2xxs, lattice3s, lattice3xxs } from './lattices.js'

/** The eight signs behind seven bits. */
function evenSigns(bits: number): number {
  let parity = bits ^ (bits >>> 4)
  parity ^= parity >>> 2
  parity ^= parity >>> 1
  return bits | ((parity & 1) << 7)
}

/** Writes `count` components of the vector that starts at `from`, times `scale`; bit i of `signs` negates component i. */
function putVector(
  target: Float32Array,
  to: number,
  lattice: Int8Array,
  from: number,
  count: number,
  scale: number,
  signs: number,
): void {
  for (let i = 0; i < count; i++) {
    const value = scale * lattice[from + i]!
    target[to + i] = (signs >>> i) & 1 ? -value : value
  }
}

const xxs2Size = blockBytes(layouts.iq2_xxs)
const xxs2Codes = fieldOffset(layouts.iq2_xxs, 'qs')

/** Eight bytes per 32 elements: four codes, then a word of four times seven signs and the scale in its top four bits. */
export function decodeIQ2_XXS(source: Uint8Array, target: Float32Array, blocks: number): void {
  const lattice = lattice2xxs()
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += xxs2Size) {
    const d = f16At(source, at)
    for (let sub = 0, codes = at + xxs2Codes; sub < 8; sub++, codes += 8) {
      const word = wordAt(source, codes + 4)
      const scale = d * (0.5 + (word >>> 28)) * 0.25
      for (let k = 0; k < 4; k++, to += 8) {
        putVector(target, to, lattice, source[codes + k]! * 8, 8, scale, evenSigns((word >>> (7 * k)) & 127))
      }
    }
  }
}

const xs2Size = blockBytes(layouts.iq2_xs)
const xs2Codes = fieldOffset(layouts.iq2_xs, 'qs')
const xs2Scales = fieldOffset(layouts.iq2_xs, 'scales')

/** Sixteen bits per 8 elements: nine of code, seven of signs. A byte of scales serves 32 elements, four bits per 16. */
export function decodeIQ2_XS(source: Uint8Array, target: Float32Array, blocks: number): void {
  const lattice = lattice2xs()
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += xs2Size) {
    const d = f16At(source, at)
    for (let k = 0, codes = at + xs2Codes; k < 32; k++, codes += 2, to += 8) {
      const scale = d * (0.5 + ((source[at + xs2Scales + (k >>> 2)]! >>> (k & 2 ? 4 : 0)) & 15)) * 0.25
      const code = source[codes]! | (source[codes + 1]! << 8)
      putVector(target, to, lattice, (code & 511) * 8, 8, scale, evenSigns(code >>> 9))
    }
  }
}

const s2Size = blockBytes(layouts.iq2_s)
const s2Codes = fieldOffset(layouts.iq2_s, 'qs')
const s2Signs = fieldOffset(layouts.iq2_s, 'signs')
const s2High = fieldOffset(layouts.iq2_s, 'qh')
const s2Scales = fieldOffset(layouts.iq2_s, 'scales')

/** Ten bits of code per 8 elements, the upper two apart, and all eight signs. */
export function decodeIQ2_S(source: Uint8Array, target: Float32Array, blocks: number): void {
  const lattice = lattice2s()
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += s2Size) {
    const d = f16At(source, at)
    for (let k = 0; k < 32; k++, to += 8) {
      const scale = d * (0.5 + ((source[at + s2Scales + (k >>> 2)]! >>> (k & 2 ? 4 : 0)) & 15)) * 0.25
      const high = (source[at + s2High + (k >>> 2)]! >>> (2 * (k & 3))) & 3
      const code = source[at + s2Codes + k]! | (high << 8)
      putVector(target, to, lattice, code * 8, 8, scale, source[at + s2Signs + k]!)
    }
  }
}

const xxs3Size = blockBytes(layouts.iq3_xxs)
const xxs3Codes = fieldOffset(layouts.iq3_xxs, 'qs')
const xxs3Signs = fieldOffset(layouts.iq3_xxs, 'scalesAndSigns')

/** A code per 4 elements; signs and scale as in IQ2_XXS. */
export function decodeIQ3_XXS(source: Uint8Array, target: Float32Array, blocks: number): void {
  const lattice = lattice3xxs()
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += xxs3Size) {
    const d = f16At(source, at)
    for (let sub = 0, codes = at + xxs3Codes; sub < 8; sub++) {
      const word = wordAt(source, at + xxs3Signs + 4 * sub)
      const scale = d * (0.5 + (word >>> 28)) * 0.5
      for (let k = 0; k < 4; k++, codes += 2, to += 8) {
        const signs = evenSigns((word >>> (7 * k)) & 127)
        putVector(target, to, lattice, source[codes]! * 4, 4, scale, signs)
        putVector(target, to + 4, lattice, source[codes + 1]! * 4, 4, scale, signs >>> 4)
      }
    }
  }
}

const s3Size = blockBytes(layouts.iq3_s)
const s3Codes = fieldOffset(layouts.iq3_s, 'qs')
const s3High = fieldOffset(layouts.iq3_s, 'qh')
const s3Signs = fieldOffset(layouts.iq3_s, 'signs')
const s3Scales = fieldOffset(layouts.iq3_s, 'scales')

/** Nine bits of code per 4 elements, the ninth apart, and all signs. Scales are odd numbers, four bits per 32 elements. */
export function decodeIQ3_S(source: Uint8Array, target: Float32Array, blocks: number): void {
  const lattice = lattice3s()
  for (let block = 0, at = 0, to = 0; block < blocks; block++, at += s3Size) {
    const d = f16At(source, at)
    for (let k = 0; k < 64; k++, to += 4) {
      const sub = k >>> 3
      const scale = d * (1 + 2 * ((source[at + s3Scales + (sub >>> 1)]! >>> (sub & 1 ? 4 : 0)) & 15))
      const ninth = (source[at + s3High + sub]! >>> (k & 7)) & 1
      const code = source[at + s3Codes + k]! | (ninth << 8)
      putVector(target, to, lattice, code * 4, 4, scale, source[at + s3Signs + (k >>> 1)]! >>> (k & 1 ? 4 : 0))
    }
  }
}
