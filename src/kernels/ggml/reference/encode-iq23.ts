// IQ2 and IQ3. Signs are taken off first. The types that store seven of eight signs need an even number of minuses: where it is odd, the value
// that matters least changes its sign. Then every sub-block is fitted with vectors of a lattice, and the scales become odd multiples of the
// largest one's 31st part.
import { blockBytes, type EncodeRow, fieldOffset, layouts } from '../layouts.js'
import { putF16 } from '../plain/f16-scales.js'
import { nearestWithin, negligible, sumOfSquares, weighBlock, weighBySquares } from './arithmetic.js'
import { fitGrid, type GridFit } from './fit-grid.js'
import { fitPositive } from './fit-signed.js'
import { type Grid, keyOf } from './grid.js'
import { grid2s, grid2xs, grid2xxs, grid3s, grid3xxs } from './grids.js'

const { fround } = Math

const weights = new Float32Array(32)
const roots = new Float32Array(32)
const magnitudes = new Float32Array(32)
const digits = new Uint8Array(32)
const signs = new Uint8Array(4)
const scales = new Float32Array(16)
/** Of the whole block: the index of every vector, its bits above the eighth, and the signs of every eight values. */
const indexes = new Uint16Array(64)
const highBits = new Uint8Array(64)
const blockSigns = new Uint8Array(32)
const steps = new Uint8Array(16)

interface LatticeType {
  readonly layout: (typeof layouts)['iq2_xxs' | 'iq2_xs' | 'iq2_s' | 'iq3_xxs' | 'iq3_s']
  readonly grid: () => Grid
  readonly fit: GridFit
  readonly hasEvenSigns: boolean
  /** The variance that enters the weights is this multiple of the mean square. */
  readonly spread: 1 | 2
  /** What is added to the squares that serve as weights without importance, as a part of the variance. */
  readonly floor: number
  /** Sub-blocks of smaller values count as zero. */
  readonly smallest: number
  /** Scales are stored larger or smaller by this factor, which lessens the error on the whole. */
  readonly correction: number
  /** Whether a fit with plain levels gives the scale to start from. */
  readonly startsFromLevels?: boolean
  /** Whether codes and signs close up where a sub-block is zero, as ggml writes them for IQ3_S, though no reader expects it. */
  readonly closesUp?: boolean
  /** Whether codes are written though all scales are zero. */
  readonly writesZeros?: boolean
}

function encodeLattice(type: LatticeType, put: (target: Uint8Array, at: number) => void): EncodeRow {
  const size = blockBytes(type.layout)
  return (row, target, importance) => {
    for (let from = 0, at = 0; from < row.length; from += 256, at += size) {
      target.fill(0, at, at + size)
      const max = fitBlock(type, row, from, importance)
      if (max === 0 && !type.writesZeros) continue
      const step = fround(max / 31)
      putF16(target, at, type.correction === 1 ? step : fround(step * fround(type.correction)))
      const factor = fround(1 / step)
      for (let sub = 0; sub < 256 / type.fit.count; sub++) {
        steps[sub] = nearestWithin(fround(0.5 * fround(fround(factor * scales[sub]!) - 1)), 0, 15)
      }
      put(target, at)
    }
  }
}

/** Returns the largest scale. */
function fitBlock(type: LatticeType, row: Float32Array, from: number, importance: Float32Array | undefined): number {
  const { count } = type.fit
  const grid = type.grid()
  const variance = fround((type.spread * sumOfSquares(row, from, 256)) / 256)
  let max = 0
  indexes.fill(0)
  blockSigns.fill(0)
  highBits.fill(0)
  for (let sub = 0, place = 0; sub < 256 / count; sub++) {
    const scale = fitSubBlock(type, grid, row, from + sub * count, importance, variance)
    scales[sub] = scale
    if (scale < 0) {
      scales[sub] = -scale
      for (let k = 0; k < count / 8; k++) signs[k] = ~signs[k]! & (type.hasEvenSigns ? 127 : 255)
    }
    if (!type.closesUp) place = sub
    if (isEmpty) continue
    for (let k = 0; k < count / grid.width; k++) {
      const index = grid.indexes[keyOf(grid, digits, k * grid.width)]!
      indexes[(place * count) / grid.width + k] = index
      highBits[(sub * count) / grid.width + k] = index >>> 8
    }
    blockSigns.set(signs.subarray(0, count / 8), (place * count) / 8)
    place++
    if (scales[sub]! > max) max = scales[sub]!
  }
  return max
}

/** Whether the last sub-block was left out for being zero. */
let isEmpty = false

function fitSubBlock(
  type: LatticeType,
  grid: Grid,
  row: Float32Array,
  from: number,
  importance: Float32Array | undefined,
  variance: number,
): number {
  const { fit, hasEvenSigns } = type
  const { count, limit } = fit
  if (importance) weighBlock(row, from, count, importance, variance, weights)
  else weighBySquares(row, from, count, weights)
  for (let i = 0; i < count; i++) {
    if (!importance && type.floor > 0) {
      weights[i] = fround(type.floor * variance) + fround(row[from + i]! * row[from + i]!)
    }
    roots[i] = Math.sqrt(weights[i]!)
  }
  for (let k = 0; k < count / 8; k++) signs[k] = takeSigns(row, from, 8 * k, hasEvenSigns)
  let max = magnitudes[0]!
  for (let i = 1; i < count; i++) if (!(max > magnitudes[i]!)) max = magnitudes[i]!
  isEmpty = type.smallest === 0 ? max === 0 : max < fround(type.smallest)
  if (isEmpty) return 0
  if (!type.startsFromLevels) {
    return fitGrid(grid, fit, magnitudes, weights, roots, max, fround(max / (2 * limit + 1)), digits)
  }
  const scale = fitPositive(magnitudes, count, limit + 2, weights, digits)
  const top = fround(scale * (limit + 1))
  isEmpty = !(top > 0)
  return isEmpty ? 0 : fitGrid(grid, fit, magnitudes, weights, roots, top, scale, digits)
}

/** Puts eight magnitudes in place and returns the signs. */
function takeSigns(row: Float32Array, from: number, first: number, isEven: boolean): number {
  let bits = 0
  let minuses = 0
  for (let i = 0; i < 8; i++) {
    const value = row[from + first + i]!
    magnitudes[first + i] = value >= 0 ? value : -value
    if (value >= 0) continue
    bits |= 1 << i
    minuses++
  }
  if (!isEven) return bits
  if (minuses % 2 === 0) return bits & 127
  let weakest = 0
  let smallest = Number.POSITIVE_INFINITY
  for (let i = 0; i < 8; i++) {
    const value = row[from + first + i]!
    const matter = fround(fround(weights[first + i]! * value) * value)
    if (i > 0 && !(matter < smallest)) continue
    smallest = matter
    weakest = i
  }
  magnitudes[first + weakest]! *= -1
  return (bits ^ (1 << weakest)) & 127
}

/** Four times seven signs and the scale of 32 values. */
function putSignWord(sub: number, target: Uint8Array, at: number): void {
  const k = 4 * sub
  const word =
    blockSigns[k]! |
    (blockSigns[k + 1]! << 7) |
    (blockSigns[k + 2]! << 14) |
    (blockSigns[k + 3]! << 21) |
    (steps[sub]! << 28)
  for (let i = 0; i < 4; i++) target[at + i] = word >>> (8 * i)
}

/** Scales of four bits, two to a byte. */
function putSteps(count: number, target: Uint8Array, at: number): void {
  for (let i = 0; i < count; i += 2) target[at + i / 2] = steps[i]! | (steps[i + 1]! << 4)
}

export const referenceIQ2_XXS = encodeLattice(
  {
    layout: layouts.iq2_xxs,
    grid: grid2xxs,
    fit: { count: 32, limit: 2, tries: 6, step: 0.1, again: 'all' },
    hasEvenSigns: true,
    spread: 1,
    floor: 0,
    smallest: negligible,
    correction: 1,
    startsFromLevels: true,
  },
  (target, at) => {
    for (let sub = 0, bytes = at + 2; sub < 8; sub++, bytes += 8) {
      for (let k = 0; k < 4; k++) target[bytes + k] = indexes[4 * sub + k]!
      putSignWord(sub, target, bytes + 4)
    }
  },
)

export const referenceIQ2_XS = encodeLattice(
  {
    layout: layouts.iq2_xs,
    grid: grid2xs,
    fit: { count: 16, limit: 2, tries: 9, step: 0.1, again: 'off' },
    hasEvenSigns: true,
    spread: 1,
    floor: 0,
    smallest: negligible,
    correction: 1,
  },
  (target, at) => {
    for (let k = 0; k < 32; k++) {
      const word = indexes[k]! | (blockSigns[k]! << 9)
      target[at + 2 + 2 * k] = word
      target[at + 3 + 2 * k] = word >>> 8
    }
    putSteps(16, target, at + fieldOffset(layouts.iq2_xs, 'scales'))
  },
)

export const referenceIQ2_S = encodeLattice(
  {
    layout: layouts.iq2_s,
    grid: grid2s,
    fit: { count: 16, limit: 2, tries: 9, step: 0.1, again: 'off' },
    hasEvenSigns: false,
    spread: 2,
    floor: 0.25,
    smallest: 1e-8,
    correction: 0.9875,
  },
  (target, at) => {
    const high = at + fieldOffset(layouts.iq2_s, 'qh')
    for (let k = 0; k < 32; k++) {
      target[at + 2 + k] = indexes[k]!
      target[high + (k >>> 2)]! |= highBits[k]! << (2 * (k & 3))
    }
    target.set(blockSigns, at + fieldOffset(layouts.iq2_s, 'signs'))
    putSteps(16, target, at + fieldOffset(layouts.iq2_s, 'scales'))
  },
)

export const referenceIQ3_XXS = encodeLattice(
  {
    layout: layouts.iq3_xxs,
    grid: grid3xxs,
    fit: { count: 32, limit: 7, tries: 15, step: 0.2, again: 'off' },
    hasEvenSigns: true,
    spread: 2,
    floor: 0,
    smallest: 1e-8,
    correction: 1.0125,
  },
  (target, at) => {
    for (let k = 0; k < 64; k++) target[at + 2 + k] = indexes[k]!
    const words = at + fieldOffset(layouts.iq3_xxs, 'scalesAndSigns')
    for (let sub = 0; sub < 8; sub++) putSignWord(sub, target, words + 4 * sub)
  },
)

const iq3s: LatticeType = {
  layout: layouts.iq3_s,
  grid: grid3s,
  fit: { count: 32, limit: 7, tries: 9, step: 0.2, again: 'all-if-off' },
  hasEvenSigns: false,
  spread: 2,
  floor: 0,
  smallest: 0,
  correction: 1.033,
}

function putIQ3_S(target: Uint8Array, at: number): void {
  const high = at + fieldOffset(layouts.iq3_s, 'qh')
  for (let k = 0; k < 64; k++) {
    target[at + 2 + k] = indexes[k]!
    target[high + (k >>> 3)]! |= highBits[k]! << (k & 7)
  }
  target.set(blockSigns, at + fieldOffset(layouts.iq3_s, 'signs'))
  putSteps(8, target, at + fieldOffset(layouts.iq3_s, 'scales'))
}

export const referenceIQ3_S = encodeLattice({ ...iq3s, closesUp: true, writesZeros: true }, putIQ3_S)
/** The same with every sub-block in its place. */
export const encodeIQ3_S = encodeLattice(iq3s, putIQ3_S)
