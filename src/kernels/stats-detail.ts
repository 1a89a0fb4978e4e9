// The second pass: squares of the deviations, the histogram, and the second digit of the median. Most of the histogram is known from
// the first pass already, since all values with one top digit usually fall into the same bin. Only values whose top digit is marked are
// looked at one by one.
import { type Bins, binOf } from './stats-bins.js'
import { boundsOf, digitRange, type KeyKind, numberOf, topOrder } from './stats-keys.js'
import { isComplete, type Rank } from './stats-rank.js'
import { addTo, blockCount, createSum, type Sum, scaleFor, sumOf } from './stats-sum.js'
import { type Summary, settleTops, topsSuffice } from './stats-summary.js'

const binMark = 1
const lowerMark = 2
const upperMark = 4

export interface Detail {
  readonly kind: KeyKind
  readonly bins: Bins
  /** What is to be done with a value, by its top digit. */
  readonly marks: Uint8Array
  /** How often each second digit occurs among values with the top digit of the lower and of the upper middle value. */
  readonly lowerDigits: Float64Array
  readonly upperDigits: Float64Array
  /** Squared deviations of the values times `scale`. */
  readonly squares: Sum
  readonly mean: number
  readonly scale: number
}

/** Takes over what the first pass knows. `ranks` are the middle values as far as it knows them. */
export function createDetail(summary: Summary, mean: number, bins: Bins, ranks: readonly [Rank, Rank]): Detail {
  const { kind, min, max } = summary
  const scale = kind === 'f64' ? scaleFor(min, max) : 1
  const marks = new Uint8Array(digitRange)
  const known = topsSuffice(summary)
  const tops = settleTops(summary)
  const squares = createSum()
  for (const top of topOrder(kind)) {
    const count = tops[top]!
    if (count === 0) continue
    const [low, high] = known ? [numberOf(kind, [top]), numberOf(kind, [top])] : boundsOf(kind, top)
    const bin = binOf(bins, Math.max(low, min))
    if (bin === binOf(bins, Math.min(high, max))) bins.counts[bin]! += count
    else marks[top] = binMark
    if (known) addTo(squares, count * (low * scale - mean * scale) ** 2)
  }
  const [lower, upper] = ranks
  const shareTop = lower.digits[0] === upper.digits[0]
  if (!isComplete(kind, lower)) marks[lower.digits[0]!]! |= lowerMark
  if (!isComplete(kind, upper) && !shareTop) marks[upper.digits[0]!]! |= upperMark
  const lowerDigits = new Float64Array(digitRange)
  const upperDigits = shareTop ? lowerDigits : new Float64Array(digitRange)
  return { kind, bins, marks, lowerDigits, upperDigits, squares, mean, scale }
}

/** Adds a window of values, of the same kind as in the first pass. */
export function addDetail(detail: Detail, values: Float32Array | Float64Array): void {
  if (values instanceof Float32Array) {
    addSquaresF32(detail, values)
    addMarkedF32(detail, values)
  } else {
    addSquaresF64(detail, values)
    if (detail.kind === 'f64') addMarkedF64(detail, values)
    else addMarkedIntegers(detail, values)
  }
}

/** The standard deviation of `count` values; divides by the count itself. */
export const deviationOf = (detail: Detail, count: number): number =>
  Math.sqrt(sumOf(detail.squares) / count) / detail.scale

function addSquaresF32(detail: Detail, values: Float32Array): void {
  const { mean, squares } = detail
  for (let start = 0; start < values.length; start += blockCount) {
    const end = Math.min(start + blockCount, values.length)
    let a = 0
    let b = 0
    let i = start
    for (; i + 1 < end; i += 2) {
      const x = values[i]! - mean
      const y = values[i + 1]! - mean
      a += x * x
      b += y * y
    }
    if (i < end) a += (values[i]! - mean) ** 2
    const total = a + b
    if (total < Infinity) addTo(squares, total)
    else addFiniteSquares(detail, values.subarray(start, end))
  }
}

function addSquaresF64(detail: Detail, values: Float64Array): void {
  const { scale, squares } = detail
  const mean = detail.mean * scale
  for (let start = 0; start < values.length; start += blockCount) {
    const end = Math.min(start + blockCount, values.length)
    let a = 0
    for (let i = start; i < end; i++) {
      const x = values[i]! * scale - mean
      a += x * x
    }
    if (a < Infinity) addTo(squares, a)
    else addFiniteSquares(detail, values.subarray(start, end))
  }
}

/** A block that holds NaN or infinity. */
function addFiniteSquares(detail: Detail, block: Float32Array | Float64Array): void {
  const { mean, scale, squares } = detail
  for (const x of block) if (Number.isFinite(x)) addTo(squares, (x * scale - mean * scale) ** 2)
}

function addMarkedF32(detail: Detail, values: Float32Array): void {
  const { marks } = detail
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length)
  for (let i = 0; i < bits.length; i++) {
    const xBits = bits[i]!
    const mark = marks[xBits >>> 16]!
    if (mark !== 0) addMarked(detail, mark, values[i]!, xBits & 0xffff)
  }
}

function addMarkedF64(detail: Detail, values: Float64Array): void {
  const { marks } = detail
  const bits = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length)
  for (let i = 0; i < values.length; i++) {
    const highBits = bits[2 * i + 1]!
    const mark = marks[highBits >>> 16]!
    if (mark !== 0) addMarked(detail, mark, values[i]!, highBits & 0xffff)
  }
}

function addMarkedIntegers(detail: Detail, values: Float64Array): void {
  const { marks } = detail
  for (let i = 0; i < values.length; i++) {
    const x = values[i]!
    const xBits = x | 0
    const mark = marks[xBits >>> 16]!
    if (mark !== 0) addMarked(detail, mark, x, xBits & 0xffff)
  }
}

function addMarked(detail: Detail, mark: number, x: number, secondDigit: number): void {
  if ((mark & binMark) !== 0) detail.bins.counts[binOf(detail.bins, x)]!++
  if ((mark & lowerMark) !== 0) detail.lowerDigits[secondDigit]!++
  if ((mark & upperMark) !== 0) detail.upperDigits[secondDigit]!++
}
