// How far two lists of numbers are apart. They are compared window by window; a meter accumulates the result.
//
// A number equals itself, and zero equals minus zero. A NaN equals every NaN and nothing else. RMSE, SNR and cosine are over the elements
// that are finite on both sides; the others are counted.
import { type BlockDistance, compareBlocks } from './compare-blocks.js'
import { addTo, blockCount, createSum, type Sum, sumOf } from './stats/sum.js'

/** Two numbers are close when |a − b| ≤ abs + rel · max(|a|, |b|). */
export interface Closeness {
  readonly abs: number
  readonly rel: number
}

export interface Meter {
  /** How many numbers make up one element: 2 for complex ones. */
  readonly width: number
  /** In numbers, so far. */
  count: number
  /** Elements that differ, that are not close, and of which one side is NaN or infinite (or both are, in different ways). */
  differing: number
  beyond: number
  nonFinite: number
  /** The first element that differs, -1 when none does. */
  first: number
  /** The largest |a − b|, the element where it is, and the largest |a − b| / max(|a|, |b|). */
  maxAbs: number
  maxAbsAt: number
  maxRel: number
  /** How many numbers are in the sums Σ(a−b)², Σa², Σb², Σab. */
  finite: number
  readonly error: Sum
  readonly before: Sum
  readonly after: Sum
  readonly product: Sum
  lastDiffering: number
  lastBeyond: number
  lastNonFinite: number
}

export const createMeter = (width = 1): Meter => ({
  width,
  count: 0,
  differing: 0,
  beyond: 0,
  nonFinite: 0,
  first: -1,
  maxAbs: 0,
  maxAbsAt: 0,
  maxRel: 0,
  finite: 0,
  error: createSum(),
  before: createSum(),
  after: createSum(),
  product: createSum(),
  lastDiffering: -1,
  lastBeyond: -1,
  lastNonFinite: -1,
})

type Floats = Float32Array | Float64Array

/** Two windows of equal length. */
export interface Windows {
  readonly a: Floats
  readonly b: Floats
  /** The differences, where the numbers themselves are rounded, as 64-bit integers are in f64. */
  readonly rests?: Float64Array
  /** Absent: only equal numbers are close. */
  readonly close?: Closeness | undefined
}

export function compareWindows(meter: Meter, windows: Windows): void {
  const { length } = windows.a
  for (let from = compareFloats(meter, windows); from < length; from += blockCount) {
    const end = Math.min(from + blockCount, length)
    const apart = addBlock(meter, windows, from, end)
    if (apart === 0) continue
    const isOrdinary = Number.isFinite(apart)
    if (isOrdinary && meter.width === 1) noteBlock(meter, windows, from, end)
    else noteEach(meter, windows, from, end, !isOrdinary)
  }
  meter.count += length
}

/** Compares whole blocks of f32 with the compiled kernel and returns how many numbers those are. The result is the same, bit for bit. */
function compareFloats(meter: Meter, windows: Windows): number {
  const { a, b, rests, close = onlyEqual } = windows
  if (rests || meter.width > 1 || !(a instanceof Float32Array && b instanceof Float32Array)) return 0
  return compareBlocks(a, b, { ...close, share: () => meter.maxRel }, (from, block) => {
    const end = from + blockCount
    if (!Number.isFinite(block.apart)) noteEach(meter, windows, from, end, true)
    else {
      addSums(meter, block, blockCount)
      if (block.apart === 0) return
      if (meter.first < 0 || block.maxAbs > meter.maxAbs || block.exceeds) noteBlock(meter, windows, from, end)
      else {
        meter.differing += block.differing
        meter.beyond += block.beyond
      }
    }
  })
}

type Sums = Pick<BlockDistance, 'error' | 'before' | 'after' | 'product'>

function addSums(meter: Meter, { error, before, after, product }: Sums, count: number): void {
  addTo(meter.error, error)
  addTo(meter.before, before)
  addTo(meter.after, after)
  addTo(meter.product, product)
  meter.finite += count
}

/** Adds a block to the sums and returns Σ|a−b|. When that is not finite, the sums stay unchanged. */
function addBlock(meter: Meter, { a, b, rests }: Windows, from: number, end: number): number {
  let apart = 0
  let error = 0
  let before = 0
  let after = 0
  let product = 0
  for (let i = from; i < end; i++) {
    const x = a[i]!
    const y = b[i]!
    const rest = rests ? rests[i]! : x - y
    apart += Math.abs(rest)
    error += rest * rest
    before += x * x
    after += y * y
    product += x * y
  }
  if (Number.isFinite(apart)) addSums(meter, { error, before, after, product }, end - from)
  return apart
}

const onlyEqual: Closeness = { abs: 0, rel: 0 }

/** Where the differences are and how large, for elements of one finite number. */
function noteBlock(meter: Meter, { a, b, rests, close = onlyEqual }: Windows, from: number, end: number): void {
  const { abs, rel } = close
  let first = -1
  let differing = 0
  let beyond = 0
  let maxAbs = meter.maxAbs
  let maxAbsAt = -1
  let maxRel = meter.maxRel
  for (let i = from; i < end; i++) {
    const x = a[i]!
    const y = b[i]!
    const distance = Math.abs(rests ? rests[i]! : x - y)
    if (distance === 0) continue
    if (differing++ === 0) first = i
    if (distance > maxAbs) {
      maxAbs = distance
      maxAbsAt = i
    }
    const size = Math.max(Math.abs(x), Math.abs(y))
    if (distance > maxRel * size) maxRel = distance / size // dividing each time would dominate the loop
    if (distance > abs + rel * size) beyond++
  }
  if (meter.first < 0) meter.first = meter.count + first
  meter.differing += differing
  meter.beyond += beyond
  meter.maxRel = maxRel
  if (maxAbsAt < 0) return
  meter.maxAbs = maxAbs
  meter.maxAbsAt = meter.count + maxAbsAt
}

/** The same one by one: for blocks with NaN or infinities, whose finite numbers are added here, and for elements of several numbers. */
function noteEach(meter: Meter, windows: Windows, from: number, end: number, add: boolean): void {
  const { a, b, rests, close = onlyEqual } = windows
  for (let i = from; i < end; i++) {
    const x = a[i]!
    const y = b[i]!
    const rest = rests ? rests[i]! : x - y
    if (!Number.isFinite(rest)) {
      noteSpecial(meter, meter.count + i, x, y)
      continue
    }
    const size = Math.max(Math.abs(x), Math.abs(y))
    if (rest !== 0) noteDifference(meter, meter.count + i, Math.abs(rest), size, close)
    if (!add) continue
    addTo(meter.error, rest * rest)
    addTo(meter.before, x * x)
    addTo(meter.after, y * y)
    addTo(meter.product, x * y)
    meter.finite++
  }
}

function noteDifference(meter: Meter, index: number, distance: number, size: number, close: Closeness): void {
  const element = meter.width === 1 ? index : Math.floor(index / meter.width)
  if (element !== meter.lastDiffering) {
    if (meter.differing++ === 0) meter.first = element
    meter.lastDiffering = element
  }
  if (distance > meter.maxAbs) {
    meter.maxAbs = distance
    meter.maxAbsAt = element
  }
  const relative = distance / size
  if (relative > meter.maxRel) meter.maxRel = relative
  if (!(distance <= close.abs + close.rel * size) && element !== meter.lastBeyond) {
    meter.beyond++
    meter.lastBeyond = element
  }
}

/** One of the two is not finite, or the distance of two large numbers is not. */
function noteSpecial(meter: Meter, index: number, x: number, y: number): void {
  if (x === y || (Number.isNaN(x) && Number.isNaN(y))) return
  const isNumber = !Number.isNaN(x) && !Number.isNaN(y)
  const infinity = Number.POSITIVE_INFINITY
  noteDifference(meter, index, isNumber ? infinity : 0, infinity, nothingIsClose)
  if (Number.isFinite(x) && Number.isFinite(y)) return
  const element = Math.floor(index / meter.width)
  if (element !== meter.lastNonFinite) meter.nonFinite++
  meter.lastNonFinite = element
}

const nothingIsClose: Closeness = { abs: -1, rel: 0 }

/** Adds one meter to another, as if its numbers had come next. */
export function mergeMeter(all: Meter, meter: Meter): void {
  const before = all.count / all.width
  if (all.first < 0 && meter.first >= 0) all.first = before + meter.first
  if (meter.maxAbs > all.maxAbs) {
    all.maxAbs = meter.maxAbs
    all.maxAbsAt = before + meter.maxAbsAt
  }
  all.maxRel = Math.max(all.maxRel, meter.maxRel)
  for (const key of ['count', 'differing', 'beyond', 'nonFinite', 'finite'] as const) all[key] += meter[key]
  for (const key of ['error', 'before', 'after', 'product'] as const) addTo(all[key], sumOf(meter[key]))
}

export interface Distance {
  readonly rmse: number
  /** Signal to noise in decibels; null when there is no error, or no signal. */
  readonly snr: number | null
  /** The cosine of the angle between the two as vectors; null when one of them is all zeros. */
  readonly cosine: number | null
}

export function distanceOf(meter: Meter): Distance {
  const [error, before, after, product] = [meter.error, meter.before, meter.after, meter.product].map(sumOf) as [
    number,
    number,
    number,
    number,
  ]
  const cosine = product / Math.sqrt(before) / Math.sqrt(after)
  return {
    rmse: meter.finite === 0 ? 0 : Math.sqrt(error / meter.finite),
    snr: error > 0 && before > 0 ? 10 * Math.log10(before / error) : null,
    cosine: Number.isFinite(cosine) ? Math.max(-1, Math.min(1, cosine)) : null,
  }
}
