// The first pass over a tensor: counts, extremes, sum, and how often each top digit occurs (keys.ts). Values are summed block by
// block at full speed without testing for NaN and infinity; a block that holds one has a sum that is not finite, and is then processed again
// value by value. This is the plain twin of what compiled.ts does with f32.
import { countDigit, createCounts, type DigitCounts } from './counts.js'
import { digitRange, type KeyKind } from './keys.js'
import { addTo, blockCount, createSum, type Sum, sumOf } from './sum.js'

export interface Summary {
  readonly kind: KeyKind
  count: number
  nan: number
  posInf: number
  negInf: number
  /** Both signs. */
  zero: number
  negZero: number
  /** Of finite values; Infinity and -Infinity while there are none. */
  min: number
  max: number
  readonly sum: Sum
  /** The sum of f64 values so large that adding them could overflow, times `hugeScale`. */
  readonly hugeSum: Sum
  /** All second digits or-ed together, and all digits below: zero bits are known without another pass. */
  secondDigits: number
  lowerDigits: number
  /** Top digits seen since `settleTops`, which moves them to `tops` before a counter can overflow. Allocated at the first use. */
  recent: TopCounters | undefined
  recentCount: number
  readonly tops: DigitCounts
}

/** How often each top digit occurs, in 32 bits. */
export interface TopCounters {
  readonly counts: Uint32Array
  /** Adds all counts to `tops` and starts from zero. */
  drain(tops: DigitCounts): void
}

const hugeFrom = 2 ** 900
const hugeScale = 2 ** -128
const maxRecent = 2 ** 32 - 1

export function createSummary(kind: KeyKind): Summary {
  const counts = { count: 0, nan: 0, posInf: 0, negInf: 0, zero: 0, negZero: 0 }
  const sums = { sum: createSum(), hugeSum: createSum() }
  const bits = { secondDigits: 0, lowerDigits: 0 }
  const tops = { recent: undefined, recentCount: 0, tops: createCounts() }
  return { kind, ...counts, min: Infinity, max: -Infinity, ...sums, ...bits, ...tops }
}

/** Adds a window of values to the summary: f32 for the kind `f32`, f64 for all others. */
export function summarizePlain(summary: Summary, values: Float32Array | Float64Array): void {
  announce(summary, values.length)
  summary.recent ??= createCounters()
  const { counts } = summary.recent
  if (values instanceof Float32Array) summarizeF32(summary, values, counts)
  else if (summary.kind === 'f64') summarizeF64(summary, values, counts)
  else summarizeIntegers(summary, values, counts)
}

/** To be called before `count` values are counted. */
export function announce(summary: Summary, count: number): void {
  if (summary.recentCount + count > maxRecent) settleTops(summary)
  summary.recentCount += count
  summary.count += count
}

function createCounters(): TopCounters {
  const counts = new Uint32Array(digitRange)
  const drain = (tops: DigitCounts): void => {
    for (let top = 0; top < digitRange; top++) if (counts[top] !== 0) countDigit(tops, top, counts[top])
    counts.fill(0)
  }
  return { counts, drain }
}

/** How often each top digit occurs. */
export function settleTops(summary: Summary): DigitCounts {
  if (summary.recentCount > 0) summary.recent?.drain(summary.tops)
  summary.recentCount = 0
  return summary.tops
}

export const finiteCount = (summary: Summary): number => summary.count - summary.nan - summary.posInf - summary.negInf

/** Whether no value uses bits below its top digit (bf16, small integers, 8-bit floats), so that the top digits are the values. */
export const topsSuffice = (summary: Summary): boolean => summary.secondDigits === 0 && summary.lowerDigits === 0

/** The mean of the finite values, clamped to their range. */
export function meanOf(summary: Summary): number {
  const count = finiteCount(summary)
  const mean = sumOf(summary.sum) / count + sumOf(summary.hugeSum) / count / hugeScale
  return Math.min(Math.max(mean, minOf(summary)), maxOf(summary))
}

/** The smallest finite value, where -0 is smaller than 0. */
export const minOf = (summary: Summary): number => (summary.min === 0 ? (summary.negZero > 0 ? -0 : 0) : summary.min)

/** The largest finite value, where 0 is larger than -0. */
export const maxOf = (summary: Summary): number =>
  summary.max === 0 ? (summary.zero > summary.negZero ? 0 : -0) : summary.max

function summarizeF32(summary: Summary, values: Float32Array, tops: Uint32Array): void {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length)
  const count = values.length
  let used = 0
  for (let start = 0; start < count; start += blockCount) {
    const end = Math.min(start + blockCount, count)
    const tiny = tops[0]! + tops[0x8000]!
    let low = Infinity
    let high = -Infinity
    let a = 0
    let b = 0
    let i = start
    for (; i + 1 < end; i += 2) {
      const x = values[i]!
      const y = values[i + 1]!
      const xBits = bits[i]!
      const yBits = bits[i + 1]!
      a += x
      b += y
      if (x < low) low = x
      if (x > high) high = x
      if (y < low) low = y
      if (y > high) high = y
      tops[xBits >>> 16]!++
      tops[yBits >>> 16]!++
      used |= xBits | yBits
    }
    if (i < end) {
      const x = values[i]!
      a += x
      if (x < low) low = x
      if (x > high) high = x
      tops[bits[i]! >>> 16]!++
      used |= bits[i]!
    }
    if (tops[0]! + tops[0x8000]! !== tiny) countZerosF32(summary, bits, start, end)
    settleBlock(summary, values, start, end, a + b, low, high)
  }
  summary.secondDigits |= used & 0xffff
}

function summarizeF64(summary: Summary, values: Float64Array, tops: Uint32Array): void {
  const bits = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length)
  const count = values.length
  let usedHigh = 0
  let usedLow = 0
  for (let start = 0; start < count; start += blockCount) {
    const end = Math.min(start + blockCount, count)
    const tiny = tops[0]! + tops[0x8000]!
    let low = Infinity
    let high = -Infinity
    let a = 0
    for (let i = start; i < end; i++) {
      const x = values[i]!
      const highBits = bits[2 * i + 1]!
      a += x
      if (x < low) low = x
      if (x > high) high = x
      tops[highBits >>> 16]!++
      usedHigh |= highBits
      usedLow |= bits[2 * i]!
    }
    if (tops[0]! + tops[0x8000]! !== tiny) countZerosF64(summary, bits, start, end)
    settleBlock(summary, values, start, end, a, low, high)
  }
  summary.secondDigits |= usedHigh & 0xffff
  summary.lowerDigits |= usedLow
}

/** 32-bit integers, signed or not: `| 0` gives the bits of either. */
function summarizeIntegers(summary: Summary, values: Float64Array, tops: Uint32Array): void {
  const count = values.length
  let zero = 0
  let used = 0
  for (let start = 0; start < count; start += blockCount) {
    const end = Math.min(start + blockCount, count)
    let low = Infinity
    let high = -Infinity
    let a = 0
    for (let i = start; i < end; i++) {
      const x = values[i]!
      const bits = x | 0
      a += x
      if (x < low) low = x
      if (x > high) high = x
      tops[bits >>> 16]!++
      used |= bits
      if (bits === 0) zero++
    }
    settleBlock(summary, values, start, end, a, low, high)
  }
  summary.zero += zero
  summary.secondDigits |= used & 0xffff
}

// Zeros share a top digit with the smallest subnormals only, so the counts of most blocks show that they have none. The loops have no
// branches: in a sparse tensor zeros are unpredictable, and a mispredicted branch costs more than counting.

function countZerosF32(summary: Summary, bits: Uint32Array, start: number, end: number): void {
  let zero = 0
  let negZero = 0
  for (let i = start; i < end; i++) {
    const isZero = ((bits[i]! & 0x7fffffff) - 1) >>> 31
    zero += isZero
    negZero += isZero & (bits[i]! >>> 31)
  }
  summary.zero += zero
  summary.negZero += negZero
}

function countZerosF64(summary: Summary, bits: Uint32Array, start: number, end: number): void {
  let zero = 0
  let negZero = 0
  for (let i = start; i < end; i++) {
    const low = bits[2 * i]!
    const high = bits[2 * i + 1]!
    const isZero = (((high & 0x7fffffff) - 1) >>> 31) & ~((low | -low) >>> 31)
    zero += isZero
    negZero += isZero & (high >>> 31)
  }
  summary.zero += zero
  summary.negZero += negZero
}

/** Adds the results of a block. */
export function settleBlock(
  summary: Summary,
  values: Float32Array | Float64Array,
  start: number,
  end: number,
  total: number,
  low: number,
  high: number,
): void {
  if (Math.abs(total) < hugeFrom) {
    addTo(summary.sum, total)
    if (low < summary.min) summary.min = low
    if (high > summary.max) summary.max = high
  } else {
    for (let i = start; i < end; i++) settleValue(summary, values[i]!)
  }
}

/** One value of a block that holds non-finite values, or values too large for a plain sum. */
function settleValue(summary: Summary, x: number): void {
  if (Number.isNaN(x)) summary.nan++
  else if (x === Infinity) summary.posInf++
  else if (x === -Infinity) summary.negInf++
  else {
    if (x < summary.min) summary.min = x
    if (x > summary.max) summary.max = x
    if (Math.abs(x) < hugeFrom) addTo(summary.sum, x)
    else addTo(summary.hugeSum, x * hugeScale)
  }
}
