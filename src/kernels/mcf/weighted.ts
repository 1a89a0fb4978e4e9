// Scales for columns that do not count the same. Where errors are weighted, the best scale for codes c is Σwcx / Σwcc, and for a given scale the
// nearest codes are still the best. The search starts at the scales that are best when all columns count the same and only takes what is
// better, so the weighted error of no block is larger than without weights. Arithmetic is that of f64, except for codes, which are those that
// `encode` will choose.
import { f16Value, infiniteF16, largestF16, nearestF16, negative, smallestF16 } from './plain/f16-scales.js'
import {
  blockValues,
  type CodeBits,
  type CodeSet,
  codeLimits,
  type Limits,
  superBlocks,
  type TileShape,
} from './tile.js'

const { fround } = Math

/** A tile, and how much each column of its rows counts: as many as values in a row, zeros for the padding. */
export interface Weighted {
  readonly values: Float32Array
  readonly shape: TileShape
  readonly weights: Float32Array
}

/** Where the search begins, as multiples of the scale that suits equal weights. */
const starts = [1, 0.88, 1.08, 1.2]
const maxRounds = 3
const maxSub = 63
/** The sub-scales that the block with the largest scale gets in turn. */
const topSubs = [63.4, 61, 56, 48]

/** One block, and the result of the last look at it. */
class Block {
  readonly limits: Limits
  readonly #values: Float32Array
  readonly #weights: Float32Array
  #at = 0
  #weightsAt = 0
  /** Σwcx and Σwcc of the codes that `error` rounded to. */
  product = 0
  square = 0

  constructor(limits: Limits, { values, weights }: Weighted) {
    this.limits = limits
    this.#values = values
    this.#weights = weights
  }

  /** `block` counts from the first of the tile, `column` from the first of its row. */
  moveTo(block: number, column: number): void {
    this.#at = block * blockValues
    this.#weightsAt = column * blockValues
  }

  /** The weighted squared error under a scale of either sign; of zeros, if it is zero. */
  error(scale: number): number {
    const { low, high } = this.limits
    const values = this.#values
    const weights = this.#weights
    // As `encode` rounds, so that the error is that of the codes in the file: 1.5 · 2^23 leaves a whole number.
    const inverse = scale === 0 ? 0 : fround(1 / fround(scale))
    const at = this.#at
    const weightsAt = this.#weightsAt
    let sum = 0
    let product = 0
    let square = 0
    for (let i = 0; i < blockValues; i++) {
      const value = values[at + i]!
      const weight = weights[weightsAt + i]!
      const exact = fround(value * inverse)
      const bounded = exact > high ? high : exact < low ? low : exact
      const code = fround(fround(bounded + 12582912) - 12582912)
      const rest = value - code * scale
      const weighted = weight * code
      sum += weight * rest * rest
      product += weighted * value
      square += weighted * code
    }
    this.product = product
    this.square = square
    return sum
  }

  /** The best scale near `start`, which `store` rounds to what the file can hold; undefined if nothing is better than `start` itself. */
  improve(start: number, store: (scale: number) => number): number | undefined {
    let least = this.error(start)
    let best: number | undefined
    for (const factor of starts) {
      this.error(start * factor)
      for (let round = 0; round < maxRounds && this.square > 0; round++) {
        const wanted = store(this.product / this.square)
        if (wanted === 0 || wanted > 0 !== start > 0) break
        const error = this.error(wanted)
        if (!(error < least)) break
        least = error
        best = wanted
      }
    }
    return best
  }

  largestMagnitude(): number {
    let largest = 0
    for (let i = this.#at; i < this.#at + blockValues; i++) largest = Math.max(largest, Math.abs(this.#values[i]!))
    return largest
  }
}

const scaleOf = (half: number): number => (half < negative ? f16Value(half) : -f16Value(half - negative))

/** The stored form of a scale; 0 if there is none. */
function halfOf(scale: number): number {
  const magnitude = Math.abs(scale)
  if (!(magnitude <= largestF16)) return 0
  const half = nearestF16(fround(Math.max(magnitude, smallestF16)))
  return half >= infiniteF16 ? 0 : scale < 0 ? half + negative : half
}

/** Improves the scales of q* that `searchBlocks` found. */
export function reweighBlocks(bits: CodeBits, set: CodeSet, tile: Weighted, scales: Uint16Array): void {
  const block = new Block(codeLimits(bits, set), tile)
  for (let index = 0; index < scales.length; index++) {
    if (scales[index] === 0) continue
    block.moveTo(index, index % tile.shape.perRow)
    const found = block.improve(scaleOf(scales[index]!), (scale) => scaleOf(halfOf(scale)))
    if (found !== undefined) scales[index] = halfOf(found)
  }
}

/** Improves the super-scales and sub-scales of k* that `searchSupers` found. */
export function reweighSupers(
  bits: CodeBits,
  set: CodeSet,
  tile: Weighted,
  supers: Uint16Array,
  subScales: Uint8Array,
): void {
  const block = new Block(codeLimits(bits, set), tile)
  const { rows, perRow } = tile.shape
  for (let first = 0, at = 0; first < rows * perRow; at++) {
    const count = Math.min(superBlocks, perRow - (first % perRow))
    if (supers[at] !== 0) {
      const found = reweighSuper(block, perRow, first, scaleOf(supers[at]!), subScales.subarray(first, first + count))
      if (found) {
        supers[at] = halfOf(found.superScale)
        subScales.set(found.subs, first)
      }
    }
    first += count
  }
}

interface Choice {
  readonly superScale: number
  readonly subs: readonly number[]
  readonly error: number
}

/** A choice with less weighted error than `subs` under `start`. */
function reweighSuper(
  block: Block,
  perRow: number,
  first: number,
  start: number,
  subs: Uint8Array,
): Choice | undefined {
  const each = [...subs.keys()]
  const visit = (i: number): Block => {
    block.moveTo(first + i, (first % perRow) + i)
    return block
  }
  const before = each.reduce((sum, i) => sum + visit(i).error((start * subs[i]!) / 32), 0)
  /** What each block would like best. */
  const wanted = each.map((i) => {
    const here = visit(i)
    const magnitude = here.largestMagnitude()
    const from = subs[i] === 0 ? (Math.sign(start) * magnitude) / here.limits.high : (start * subs[i]!) / 32
    return from === 0 ? 0 : (here.improve(from, (scale) => scale) ?? from)
  })
  const largest = Math.max(...wanted.map(Math.abs))
  const nearestSub = (i: number, superScale: number): number =>
    Math.min(maxSub, Math.max(0, Math.round((wanted[i]! * 32) / superScale)))
  const errorUnder = (i: number, superScale: number, sub: number): number => visit(i).error((superScale * sub) / 32)
  let best = start
  let least = Infinity
  for (const top of [0, ...topSubs]) {
    const superScale = top === 0 ? start : scaleOf(halfOf((Math.sign(start) * largest * 32) / top))
    if (superScale === 0) continue
    const error = each.reduce((sum, i) => sum + errorUnder(i, superScale, nearestSub(i, superScale)), 0)
    if (!(error < least)) continue
    least = error
    best = superScale
  }
  const found = withNeighbours(best)
  return found.error < before && found.subs.some((sub) => sub > 0) ? found : undefined

  function withNeighbours(superScale: number): Choice {
    let error = 0
    const chosen = each.map((i) => {
      const nearest = nearestSub(i, superScale)
      let sub = nearest
      let smallest = errorUnder(i, superScale, nearest)
      for (const other of [nearest - 1, nearest + 1]) {
        if (other < 0 || other > maxSub) continue
        const tried = errorUnder(i, superScale, other)
        if (!(tried < smallest)) continue
        smallest = tried
        sub = other
      }
      error += smallest
      return sub
    })
    return { superScale, subs: chosen, error }
  }
}
