// IQ4_NL and IQ4_XS: sixteen levels that are denser around zero. The extreme value is first mapped to the lowest level, then to the seven
// numbers on either side of it.
import { blockBytes, type EncodeRow, fieldOffset, layouts } from '../layouts.js'
import { levels4 } from '../plain/decode-iq-edge.js'
import { putF16 } from '../plain/f16-scales.js'
import { putNibbles } from '../plain/pack-codes.js'
import {
  extremeOf,
  inverse,
  nearestWithin,
  negligible,
  sumOfSquares,
  weighBlock,
  weighBySquares,
} from './arithmetic.js'

const { fround } = Math

const weights = new Float32Array(32)
const scales = new Float32Array(8)
const codes = new Uint8Array(256)
const sums = { product: 0, square: 0 }

const lowest = levels4[0]!
const highest = levels4[15]!
/** The levels are whole numbers: for each of these between the lowest and the highest, the code of the level at or below it. */
const codeBelow = Uint8Array.from({ length: highest - lowest }, (_, i) =>
  levels4.findLastIndex((level) => level <= lowest + i),
)

/** The code of the nearest level; halfway the upper one. */
function nearestLevel(value: number): number {
  if (value <= lowest) return 0
  if (value >= highest) return 15
  const low = codeBelow[(value - lowest) | 0]!
  return fround(value - levels4[low]!) < fround(levels4[low + 1]! - value) ? low : low + 1
}

function sumLevels(row: Float32Array, from: number, factor: number): void {
  sums.product = 0
  sums.square = 0
  for (let i = 0; i < 32; i++) {
    const value = row[from + i]!
    const level = levels4[nearestLevel(fround(factor * value))]!
    const weighted = fround(weights[i]! * level)
    sums.product = fround(sums.product + fround(weighted * value))
    sums.square = fround(sums.square + fround(weighted * level))
  }
}

/** The scale of 32 values; `variance` is of the whole block. */
function fitLevels(row: Float32Array, from: number, importance: Float32Array | undefined, variance: number): number {
  if (importance) weighBlock(row, from, 32, importance, variance, weights)
  else weighBySquares(row, from, 32, weights)
  const extreme = extremeOf(row, from, 32)
  if (Math.abs(extreme) < negligible) return 0
  sumLevels(row, from, fround(1 / fround(-extreme / levels4[0]!)))
  let scale = sums.square > 0 ? fround(sums.product / sums.square) : 0
  let best = fround(scale * sums.product)
  for (let trial = -7; trial <= 7; trial++) {
    sumLevels(row, from, fround((trial + levels4[0]!) / extreme))
    if (!(sums.square > 0 && fround(sums.product * sums.product) > fround(best * sums.square))) continue
    scale = fround(sums.product / sums.square)
    best = fround(scale * sums.product)
  }
  return scale
}

const varianceOf = (row: Float32Array, from: number, count: number): number =>
  fround(sumOfSquares(row, from, count) * (2 / count))

const nlSize = blockBytes(layouts.iq4_nl)

export const referenceIQ4_NL: EncodeRow = (row, target, importance) => {
  for (let from = 0, at = 0; from < row.length; from += 32, at += nlSize) {
    const scale = fitLevels(row, from, importance, varianceOf(row, from, 32))
    putF16(target, at, scale)
    putLevels(row, from, inverse(scale), target, at + 2)
  }
}

function putLevels(row: Float32Array, from: number, factor: number, target: Uint8Array, at: number): void {
  for (let i = 0; i < 32; i++) codes[i] = nearestLevel(fround(factor * row[from + i]!))
  putNibbles(codes, 0, target, at)
}

const xsSize = blockBytes(layouts.iq4_xs)
const xsHigh = fieldOffset(layouts.iq4_xs, 'scalesHigh')
const xsLow = fieldOffset(layouts.iq4_xs, 'scalesLow')
const xsCodes = fieldOffset(layouts.iq4_xs, 'qs')

export const referenceIQ4_XS: EncodeRow = (row, target, importance) => {
  for (let from = 0, at = 0; from < row.length; from += 256, at += xsSize) {
    const variance = varianceOf(row, from, 256)
    for (let sub = 0; sub < 8; sub++) scales[sub] = fitLevels(row, from + 32 * sub, importance, variance)
    // ggml goes on with the step as it is, not as it is stored.
    const step = fround(-extremeOf(scales, 0, 8) / 32)
    const factor = inverse(step)
    putF16(target, at, step)
    target.fill(0, at + xsHigh, at + xsCodes)
    for (let sub = 0; sub < 8; sub++) {
      const steps = nearestWithin(fround(factor * scales[sub]!), -32, 31)
      target[at + xsLow + (sub >>> 1)]! |= ((steps + 32) & 15) << (sub & 1 ? 4 : 0)
      target[at + xsHigh + (sub >>> 2)]! |= ((steps + 32) >>> 4) << (2 * (sub & 3))
      putLevels(row, from + 32 * sub, inverse(fround(step * steps)), target, at + xsCodes + 16 * sub)
    }
  }
}
