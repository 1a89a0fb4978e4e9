// Types whose scale follows from the largest value, or the mean magnitude, alone: 4-bit floats, ternary digits, and blocks of one or two bits.
// Importance weights do not change them.
import { blockBytes, type EncodeRow, fieldOffset, layouts } from '../layouts.js'
import { doubledFp4, mxScale, nvScale } from '../plain/decode-fp4.js'
import { putF16 } from '../plain/f16-scales.js'
import { putNibbles } from '../plain/pack-codes.js'
import { extremeOf, inverse, roundAway } from './arithmetic.js'

const { fround } = Math

const codes = new Uint8Array(32)

/** The code of the nearest 4-bit float, the first of several. */
function nearestFp4(value: number, scale: number): number {
  let nearest = 0
  let smallest = Math.abs(value)
  for (let code = 1; code < 16; code++) {
    const error = Math.abs(fround(fround(doubledFp4[code]! * scale) - value))
    if (error >= smallest) continue
    smallest = error
    nearest = code
  }
  return nearest
}

const mxSize = blockBytes(layouts.mxfp4)

/** The exponent of the largest value, two less because the codes reach 6. */
function encodeMXFP4Down(to: number): EncodeRow {
  return (row, target) => {
    for (let from = 0, at = 0; from < row.length; from += 32, at += mxSize) {
      const max = Math.abs(extremeOf(row, from, 32))
      target[at] = max > 0 ? Math.max(to, Math.floor(fround(Math.log2(max))) - 2 + 127) : 0
      const scale = mxScale(target[at]!)
      for (let i = 0; i < 32; i++) codes[i] = nearestFp4(row[from + i]!, scale)
      putNibbles(codes, 0, target, at + 1)
    }
  }
}

/** Below 2^-125 the byte wraps around in ggml, whose own validation then refuses the block. */
export const referenceMXFP4 = encodeMXFP4Down(Number.NEGATIVE_INFINITY)
export const encodeMXFP4 = encodeMXFP4Down(0)

const nvSize = blockBytes(layouts.nvfp4)
const nvCodes = fieldOffset(layouts.nvfp4, 'qs')

const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

/** An unsigned float with four bits of exponent and three of mantissa, halves rounded up. */
function nvScaleCode(value: number): number {
  if (!(value > 0)) return 0
  float[0] = Math.min(value, 448)
  const exponent = (bits[0]! >>> 23) - 127 + 7
  if (exponent <= 0) return Math.min(7, Math.trunc(fround(fround(float[0]! * 512) + 0.5)))
  // The rounding bit carries into the exponent by itself. The highest exponent has one code.
  const code = (exponent << 3) + ((bits[0]! >>> 20) & 7) + ((bits[0]! >>> 19) & 1)
  return code >= 15 << 3 ? 0x7e : code
}

export const referenceNVFP4: EncodeRow = (row, target) => {
  for (let from = 0, at = 0; from < row.length; at += nvSize) {
    for (let group = 0; group < 4; group++, from += 16) {
      const code = nvScaleCode(fround(Math.abs(extremeOf(row, from, 16)) / 6))
      target[at + group] = code
      const scale = nvScale(code)
      for (let i = 0; i < 8; i++) {
        const low = nearestFp4(row[from + i]!, scale)
        target[at + nvCodes + 8 * group + i] = low | (nearestFp4(row[from + i + 8]!, scale) << 4)
      }
    }
  }
}

/** -1, 0 and 1 as 0, 1 and 2. A product that is not finite, because the scale is next to nothing, counts as zero. */
function tritOf(value: number, factor: number): number {
  const product = fround(value * factor)
  return product - product === 0 ? roundAway(product) + 1 : 1
}

const tq1Size = blockBytes(layouts.tq1_0)
const tq1Last = fieldOffset(layouts.tq1_0, 'qh')
const tq1D = fieldOffset(layouts.tq1_0, 'd')

export const referenceTQ1_0: EncodeRow = (row, target) => {
  for (let from = 0, at = 0; from < row.length; from += 256, at += tq1Size) {
    const max = Math.abs(extremeOf(row, from, 256))
    putF16(target, at + tq1D, max)
    const factor = inverse(max)
    putTrits(row, from, factor, 32, 5, target, at)
    putTrits(row, from + 160, factor, 16, 5, target, at + 32)
    putTrits(row, from + 240, factor, 4, 4, target, at + tq1Last)
  }
}

/** Five digits in a byte, the first the highest, as a fraction of 243 in 256ths, rounded up. */
function putTrits(
  row: Float32Array,
  from: number,
  factor: number,
  bytes: number,
  digits: number,
  target: Uint8Array,
  at: number,
): void {
  for (let i = 0; i < bytes; i++) {
    let number = 0
    for (let n = 0; n < 5; n++) number = 3 * number + (n < digits ? tritOf(row[from + n * bytes + i]!, factor) : 0)
    target[at + i] = Math.ceil((number * 256) / 243)
  }
}

const tq2Size = blockBytes(layouts.tq2_0)
const tq2D = fieldOffset(layouts.tq2_0, 'd')

export const referenceTQ2_0: EncodeRow = (row, target) => {
  for (let from = 0, at = 0; from < row.length; from += 256, at += tq2Size) {
    const max = Math.abs(extremeOf(row, from, 256))
    putF16(target, at + tq2D, max)
    const factor = inverse(max)
    for (let i = 0; i < 64; i++) {
      const first = from + 128 * (i >>> 5) + (i & 31)
      let byte = 0
      for (let n = 0; n < 4; n++) byte |= tritOf(row[first + 32 * n]!, factor) << (2 * n)
      target[at + i] = byte
    }
  }
}

const q1Size = blockBytes(layouts.q1_0)

/** The mean magnitude, and a bit for every value that is not negative. */
export const referenceQ1_0: EncodeRow = (row, target) => {
  for (let from = 0, at = 0; from < row.length; from += 128, at += q1Size) {
    let sum = 0
    for (let i = from; i < from + 128; i++) sum = fround(sum + Math.abs(row[i]!))
    putF16(target, at, fround(sum / 128))
    for (let byte = 0; byte < 16; byte++) {
      let signs = 0
      for (let i = 0; i < 8; i++) if (row[from + 8 * byte + i]! >= 0) signs |= 1 << i
      target[at + 2 + byte] = signs
    }
  }
}

const q2Size = blockBytes(layouts.q2_0)

/** The codes reach from -d to 2d, but d is the largest magnitude, so the highest code is never used. */
export const referenceQ2_0: EncodeRow = (row, target) => {
  for (let from = 0, at = 0; from < row.length; from += 64, at += q2Size) {
    const max = Math.abs(extremeOf(row, from, 64))
    putF16(target, at, max)
    const factor = inverse(max)
    for (let byte = 0; byte < 16; byte++) {
      let packed = 0
      for (let i = 0; i < 4; i++) {
        const product = fround(row[from + 4 * byte + i]! * factor)
        // What is not finite converts to the lowest integer in C.
        packed |= (product - product === 0 ? roundAway(product) + 1 : 0) << (2 * i)
      }
      target[at + 2 + byte] = packed
    }
  }
}
