// How often each digit of 16 bits occurs. That is half a megabyte of counters, of which a tensor typically uses a few rows: each row of 256
// has a count of its own, so that walking, clearing and reusing the counters touch only those.
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

/** Returns the counters for reuse. Calling it is optional; it only saves time. */
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

export interface DigitVisitor {
  /** Called at the first digit of a whole row; true skips the digits of the row. */
  row?(first: number, last: number, count: number): boolean
  /** True ends the walk. */
  digit(digit: number, count: number): boolean
}

/** Visits the digits that occur, in the given order. */
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
