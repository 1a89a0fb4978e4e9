// How often each digit of 16 bits occurs. Half a megabyte of counters, of which a tensor usually needs a few rows: each row of 256 has a
// count of its own, so that walking, clearing and using the counters again touch no more than these.
import { type DigitOrder, digitRange } from './keys.js'

const rowLength = 256
const maxKept = 4

export interface DigitCounts {
  readonly counts: Float64Array
  readonly rows: Float64Array
}

const kept: DigitCounts[] = []

export function createCounts(): DigitCounts {
  return kept.pop() ?? { counts: new Float64Array(digitRange), rows: new Float64Array(digitRange / rowLength) }
}

/** Lets others use the counters. Whoever does not call this loses nothing but time. */
export function releaseCounts({ counts, rows }: DigitCounts): void {
  if (kept.length === maxKept) return
  for (let row = 0; row < rows.length; row++) {
    if (rows[row]! > 0) counts.fill(0, row * rowLength, (row + 1) * rowLength)
  }
  rows.fill(0)
  kept.push({ counts, rows })
}

export function countDigit({ counts, rows }: DigitCounts, digit: number, by = 1): void {
  counts[digit]! += by
  rows[digit >>> 8]! += by
}

/** What to do on a walk. */
export interface DigitVisitor {
  /** Asked at the first digit of a whole row; when it says true, the digits of the row are not visited. */
  row?(first: number, last: number, count: number): boolean
  /** Ends the walk when it says true. */
  digit(digit: number, count: number): boolean
}

/** Visits the digits that occur, in the order that is given. */
export function walkDigits({ counts, rows }: DigitCounts, order: DigitOrder, visitor: DigitVisitor): void {
  for (const [first, last] of order) {
    const step = first <= last ? 1 : -1
    for (let digit = first; step > 0 ? digit <= last : digit >= last; digit += step) {
      const row = digit >>> 8
      const end = step > 0 ? row * rowLength + rowLength - 1 : row * rowLength
      const isStart = digit === (step > 0 ? row * rowLength : row * rowLength + rowLength - 1)
      const isWhole = isStart && (step > 0 ? end <= last : end >= last)
      if (rows[row] === 0 || (isWhole && visitor.row?.(digit, end, rows[row]!))) digit = end
      else if (counts[digit]! > 0 && visitor.digit(digit, counts[digit]!)) return
    }
  }
}
