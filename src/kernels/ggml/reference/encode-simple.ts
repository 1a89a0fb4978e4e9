// The first generation. With importance weights a row counts as a whole: the variance that enters every weight is that of the row. Without them the
// scale follows from the largest value, which the encoders that tare always uses do alike.
import { encoders } from '../encoders.js'
import { blockBytes, type EncodeRow, fieldOffset, layouts } from '../layouts.js'
import { putF16 } from '../plain/f16-scales.js'
import { putFifthBits, putNibbles } from '../plain/pack-codes.js'
import { extremeOf, inverse, sumOfSquares, weighBlock } from './arithmetic.js'
import { fitRange, weightedTrials } from './fit-range.js'
import { fitSigned } from './fit-signed.js'

type SimpleName = 'q4_0' | 'q4_1' | 'q5_0' | 'q5_1'

const weights = new Float32Array(32)
const signed = new Int8Array(32)
const unsigned = new Uint8Array(32)
const found = { min: 0 }

function encodeSimple(name: SimpleName): EncodeRow {
  const layout = layouts[name]
  const size = blockBytes(layout)
  const codesAt = fieldOffset(layout, 'qs')
  const levels = name.startsWith('q5') ? 32 : 16
  const hasMin = name.endsWith('1')
  const trials = weightedTrials(levels - 1)
  return (row, target, importance) => {
    if (!importance) {
      encoders[name](row, target, row.length / 32)
      clearTiny(row, target, { size, codesAt, levels, hasMin })
      return
    }
    const variance = Math.fround(sumOfSquares(row, 0, row.length) / row.length)
    for (let from = 0, at = 0; from < row.length; from += 32, at += size) {
      weighBlock(row, from, 32, importance, variance, weights)
      if (hasMin) {
        putF16(target, at, fitRange(row, from, 32, weights, trials, unsigned, 0, found))
        putF16(target, at + 2, -found.min)
      } else putF16(target, at, fitSigned(row, from, 32, levels / 2, weights, 0, signed, 0))
      const codes = hasMin ? unsigned : signed
      putNibbles(codes, 0, target, at + codesAt)
      if (levels === 32) putFifthBits(codes, target, at + fieldOffset(layouts.q5_0, 'qh') + (hasMin ? 2 : 0))
    }
  }
}

interface Shape {
  readonly size: number
  readonly codesAt: number
  readonly levels: number
  readonly hasMin: boolean
}

/** Where the inverse of a scale is infinite, ggml writes zeros; the scale itself is zero as an f16, so all codes mean the same. */
function clearTiny(row: Float32Array, target: Uint8Array, { size, codesAt, levels, hasMin }: Shape): void {
  for (let from = 0, at = 0; from < row.length; from += 32, at += size) {
    if ((target[at]! | target[at + 1]!) & 0x7f) continue
    const scale = hasMin ? rangeOf(row, from) / (levels - 1) : extremeOf(row, from, 32) / (levels / 2)
    if (scale !== 0 && Math.abs(inverse(Math.fround(scale))) === Number.POSITIVE_INFINITY)
      target.fill(0, at + codesAt - (levels === 32 ? 4 : 0), at + size)
  }
}

function rangeOf(row: Float32Array, from: number): number {
  let min = row[from]!
  let max = min
  for (let i = from + 1; i < from + 32; i++) {
    min = Math.min(min, row[i]!)
    max = Math.max(max, row[i]!)
  }
  return Math.fround(max - min)
}

export const referenceQ4_0 = encodeSimple('q4_0')
export const referenceQ4_1 = encodeSimple('q4_1')
export const referenceQ5_0 = encodeSimple('q5_0')
export const referenceQ5_1 = encodeSimple('q5_1')
