// The search for the value at a rank, digit by digit (keys.ts).
import { countDigit, type DigitCounts, walkDigits } from './counts.js'
import { type DigitOrder, digitRange, digitsOf, type KeyKind, lowerOrder, numberOf, topOrder } from './keys.js'
import { finiteCount, type Summary, settleTops, topsSuffice } from './summary.js'

export interface Rank {
  /** The digits that are known, top first. */
  readonly digits: readonly number[]
  /** The place, from 0, among the values that share these digits. */
  readonly place: number
}

/** The two middle values, as far as the first pass knows them; twice the same when there is one in the middle. */
export function middleRanks(summary: Summary): readonly [Rank, Rank] {
  const count = finiteCount(summary)
  const rankAt = (place: number): Rank => {
    const rank = findPlace({ digits: [], place }, settleTops(summary), topOrder(summary.kind))
    return isKnown(summary, rank.digits[0]!) ? completeWithZeros(summary.kind, rank) : rank
  }
  return [rankAt(Math.floor((count - 1) / 2)), rankAt(Math.floor(count / 2))]
}

/** Whether all values with this top digit have nothing but zero bits below it. In sparse tensors this is often true of zero. */
function isKnown(summary: Summary, top: number): boolean {
  if (topsSuffice(summary)) return true
  const count = settleTops(summary).counts[top]
  return (top === 0 && count === summary.zero - summary.negZero) || (top === 0x8000 && count === summary.negZero)
}

/** Finds the next digit from how often each digit occurs among the values that share the known ones. */
export function narrow(kind: KeyKind, rank: Rank, counts: DigitCounts): Rank {
  return findPlace(rank, counts, lowerOrder(kind, rank.digits[0]!))
}

function findPlace(rank: Rank, counts: DigitCounts, order: DigitOrder): Rank {
  let found: Rank | undefined
  let before = 0
  const isBehind = (count: number): boolean => before + count > rank.place
  walkDigits(counts, order, {
    row(_first, _last, count) {
      if (isBehind(count)) return false
      before += count
      return true
    },
    digit(digit, count) {
      if (isBehind(count)) found = { digits: [...rank.digits, digit], place: rank.place - before }
      else before += count
      return found !== undefined
    },
  })
  if (!found) throw new RangeError('the counts of a digit do not reach the rank')
  return found
}

/** The same digits, all others zero: for values whose lower bits are known to be unused. */
export function completeWithZeros(kind: KeyKind, rank: Rank): Rank {
  const missing = digitsOf(kind) - rank.digits.length
  return { ...rank, digits: [...rank.digits, ...new Array<number>(missing).fill(0)] }
}

export const isComplete = (kind: KeyKind, rank: Rank): boolean => rank.digits.length === digitsOf(kind)

/** The value, or the middle of the remaining interval. */
export function valueAt(kind: KeyKind, rank: Rank): number {
  return isComplete(kind, rank) ? numberOf(kind, rank.digits) : numberOf(kind, [...rank.digits, 0x8000])
}

/** Counts the digit that follows the known ones (two or three) of an f64 rank. */
export function countNextDigit(values: Float64Array, rank: Rank, counts: DigitCounts): void {
  const bits = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length)
  const [top, second, third] = rank.digits as readonly [number, number, number | undefined]
  const high = top * digitRange + second
  for (let i = 0; i < bits.length; i += 2) {
    if (bits[i + 1] !== high) continue
    const lowBits = bits[i]!
    if (third === undefined) countDigit(counts, lowBits >>> 16)
    else if (lowBits >>> 16 === third) countDigit(counts, lowBits & 0xffff)
  }
}
