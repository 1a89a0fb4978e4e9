// The second pass: squares of the deviations, the histogram, and the second digit of the median. Most of the histogram follows from
// the first pass, since all values with one top digit typically fall into the same bin. Only values whose top digit is marked are examined
// one by one. This is the plain twin of what compiled.ts does with f32.
import { type Bins, binOf } from './bins.js'
import { countDigit, createCounts, type DigitCounts, releaseCounts, walkDigits } from './counts.js'
import { digitRange, highestOf, type KeyKind, lowestOf, numberOf, topOrder } from './keys.js'
import { isComplete, type Rank } from './rank.js'
import { addTo, blockCount, createSum, type Sum, scaleFor, sumOf } from './sum.js'
import { type Summary, settleTops, topsSuffice } from './summary.js'

const binMark = 1
const lowerMark = 2
const upperMark = 4

export interface Detail {
  readonly kind: KeyKind
  readonly bins: Bins
  /** What to do with a value, by its top digit. */
  readonly marks: Uint8Array
  /** How often each second digit occurs among values with the top digit of the lower and of the upper middle value. */
  readonly lowerDigits: DigitCounts
  readonly upperDigits: DigitCounts
  /** Squared deviations of the values times `scale`. */
  readonly squares: Sum
  readonly mean: number
  readonly scale: number
}

/** Starts from what the first pass found. `ranks`: the middle values as far as they are known. */
export function createDetail(summary: Summary, mean: number, bins: Bins, ranks: readonly [Rank, Rank]): Detail {
  const { kind, min, max } = summary
  const scale = kind === 'f64' ? scaleFor(min, max) : 1
  const marks = new Uint8Array(digitRange)
  const known = topsSuffice(summary)
  const squares = createSum()
  const { lows, counts } = bins
  let bin = 0
  let end = lows[1] ?? Infinity
  // Digits come in the order of the numbers, so the bin of each is the last one's or one that follows.
  const isWithin = (low: number, high: number): boolean => {
    if (Math.min(high, max) < end) return true
    const first = binOf(bins, Math.max(low, min))
    bin = binOf(bins, Math.min(high, max))
    end = lows[bin + 1] ?? Infinity
    return first === bin
  }
  walkDigits(settleTops(summary), topOrder(kind), {
    row(_first, last, count) {
      if (known || Math.min(highestOf(kind, last), max) >= end) return false
      counts[bin]! += count
      return true
    },
    digit(top, count) {
      const value = known ? numberOf(kind, [top]) : 0
      if (known ? isWithin(value, value) : isWithin(lowestOf(kind, top), highestOf(kind, top))) counts[bin]! += count
      else marks[top] = binMark
      if (known) addTo(squares, count * (value * scale - mean * scale) ** 2)
      return false
    },
  })
  const [lower, upper] = ranks
  const shareTop = lower.digits[0] === upper.digits[0]
  if (!isComplete(kind, lower)) marks[lower.digits[0]!]! |= lowerMark
  if (!isComplete(kind, upper) && !shareTop) marks[upper.digits[0]!]! |= upperMark
  const lowerDigits = createCounts()
  const upperDigits = shareTop ? lowerDigits : createCounts()
  return { kind, bins, marks, lowerDigits, upperDigits, squares, mean, scale }
}

/** Adds a window of values, of the same kind as in the first pass. */
export function addDetailPlain(detail: Detail, values: Float32Array | Float64Array): void {
  if (values instanceof Float32Array) {
    addSquaresF32(detail, values)
    addMarkedF32(detail, values)
  } else {
    addSquaresF64(detail, values)
    if (detail.kind === 'f64') addMarkedF64(detail, values)
    else addMarkedIntegers(detail, values)
  }
}

/** Returns the counters of both passes for reuse. */
export function releaseCounters({ tops }: Summary, { lowerDigits, upperDigits }: Detail): void {
  for (const counts of new Set([tops, lowerDigits, upperDigits])) releaseCounts(counts)
}

/** The standard deviation of `count` values; divides by the count itself. */
export const deviationOf = (detail: Detail, count: number): number =>
  Math.sqrt(sumOf(detail.squares) / count) / detail.scale

function addSquaresF32(detail: Detail, values: Float32Array): void {
  const { mean } = detail
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
    if (i < end) {
      const x = values[i]! - mean
      a += x * x
    }
    settleSquares(detail, values, start, end, a + b)
  }
}

function addSquaresF64(detail: Detail, values: Float64Array): void {
  const { scale } = detail
  const mean = detail.mean * scale
  for (let start = 0; start < values.length; start += blockCount) {
    const end = Math.min(start + blockCount, values.length)
    let a = 0
    for (let i = start; i < end; i++) {
      const x = values[i]! * scale - mean
      a += x * x
    }
    settleSquares(detail, values, start, end, a)
  }
}

/** Adds the squares of a block; only those of finite values when it holds others. */
export function settleSquares(
  detail: Detail,
  values: Float32Array | Float64Array,
  start: number,
  end: number,
  total: number,
): void {
  const { mean, scale, squares } = detail
  if (total < Infinity) addTo(squares, total)
  else {
    for (let i = start; i < end; i++) {
      const x = values[i]! * scale - mean * scale
      if (Number.isFinite(values[i]!)) addTo(squares, x * x)
    }
  }
}

/** Adds those values whose top digit is marked. */
export function addMarkedF32(detail: Detail, values: Float32Array): void {
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
  if ((mark & lowerMark) !== 0) countDigit(detail.lowerDigits, secondDigit)
  if ((mark & upperMark) !== 0) countDigit(detail.upperDigits, secondDigit)
}
