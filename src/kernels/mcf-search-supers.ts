// The scale of each super-block and the sub-scales of its blocks with the least squared error, in plain TypeScript. Sixteen super-scales are
// compared by the sums that the starts left behind: they give the error under any scale s as Σxx − s·(2·Σcx − s·Σcc), as long as the codes
// stay. The best one is then refined on the values themselves.
import { roundEven } from './mcf-encode.js'
import { errorOf, squareSum, sumUp } from './mcf-errors.js'
import { halfValue, infiniteHalf, largestHalf, nearestHalf, smallestHalf, truncatedHalf } from './mcf-half.js'
import { blockMagnitude, subScaleFor } from './mcf-reference.js'
import { createSums, resolutionOf, type Sums, startCount, tryStarts } from './mcf-starts.js'
import { type CodeBits, largestCode, superBlocks, type TileShape } from './mcf-tile.js'

const { fround } = Math
const tries = 16

interface Block {
  readonly index: number
  /** What the block would take on its own; 0 when its values are too small for any scale. */
  readonly scale: number
  /** The size of a whole step in the sums. */
  readonly unit: number
  /** Σxx. */
  readonly square: number
  readonly sums: Sums
}

interface Choice {
  readonly superScale: number
  readonly subs: readonly number[]
  readonly error: number
}

export function searchSupersPlain(
  bits: CodeBits,
  values: Float32Array,
  { rows, perRow }: TileShape,
  supers: Uint16Array,
  subScales: Uint8Array,
): number {
  let at = 0
  for (let first = 0; first < rows * perRow; ) {
    const count = Math.min(superBlocks, perRow - (first % perRow))
    const found = searchSuper(bits, values, first, count)
    if (typeof found === 'number') return found
    for (const [i, sub] of found.subs.entries()) subScales[first + i] = sub
    supers[at++] = found.subs.some((sub) => sub > 0) ? nearestHalf(found.superScale) : 0
    first += count
  }
  return -1
}

/** The best choice, or the number of the block that is too large. */
function searchSuper(bits: CodeBits, values: Float32Array, first: number, count: number): Choice | number {
  const blocks: Block[] = []
  let plain = 0
  for (let index = first; index < first + count; index++) {
    const magnitude = blockMagnitude(values, index)
    const own = fround(magnitude / largestCode(bits))
    if (own > 4 * largestHalf) return index
    plain = Math.max(plain, own)
    const sums = createSums()
    // Half of the smallest scale that a super-block can give, 1/32 of the smallest f16, always rounds to code 0.
    const scale = magnitude > smallestHalf / 64 ? tryStarts(bits, values, index, magnitude, sums) : 0
    if (scale > (largestHalf * 63) / 32) return index
    const unit = fround(magnitude / resolutionOf(bits))
    blocks.push({ index, scale, unit, square: squareSum(values, index), sums })
  }
  const largest = Math.max(...blocks.map(({ scale }) => scale))
  if (largest === 0) return { superScale: 0, subs: blocks.map(() => 0), error: 0 }
  const errorWith = (superScale: number, subs: readonly number[]): Choice => {
    const error = blocks.reduce(
      (sum, block, i) => fround(sum + blockError(bits, values, block, superScale, subs[i]!)),
      0,
    )
    return { superScale, subs, error }
  }
  let best = chooseSubs(bits, values, blocks, bestSuper(bits, blocks, largest))
  const refined = refinedSuper(bits, values, blocks, best)
  if (refined > 0) {
    const other = errorWith(halfValue(storableHalf(refined)), best.subs)
    if (other.error < best.error) best = other
  }
  // The reference's choice is tried as well, so that no super-block comes out worse than there.
  const cut = truncatedHalf(plain)
  if (cut > 0 && cut < infiniteHalf) {
    const subs = blocks.map(({ index }) => {
      return subScaleFor(fround(blockMagnitude(values, index) / largestCode(bits)), plain)
    })
    const other = errorWith(halfValue(cut), subs)
    if (other.error < best.error) best = other
  }
  return best
}

const storableHalf = (value: number): number => nearestHalf(Math.min(Math.max(value, smallestHalf), largestHalf))

const scaleWith = (superScale: number, sub: number): number => fround(superScale * (sub / 32))

/** The whole sub-scale next to a wanted one that has a neighbour on both sides. */
const middleSub = (wanted: number): number => Math.max(roundEven(Math.min(wanted, 62)), 1)

function blockError(bits: CodeBits, values: Float32Array, block: Block, superScale: number, sub: number): number {
  return sub === 0 ? block.square : errorOf(bits, values, block.index, scaleWith(superScale, sub))
}

/** From a super-scale that gives the largest block the sub-scale 63.4 (it gets 63) upwards. */
function bestSuper(bits: CodeBits, blocks: readonly Block[], largest: number): number {
  const subStep = bits === 6 ? 0.5 : 1
  let best = 0
  let least = Infinity
  for (let index = 0; index < tries; index++) {
    const superScale = halfValue(
      storableHalf(fround(fround(largest * 32) / fround(fround(63.4) - fround(index * subStep)))),
    )
    const error = blocks.reduce((sum, block) => (block.scale > 0 ? fround(sum + estimate(block, superScale)) : sum), 0)
    if (error < least) {
      best = superScale
      least = error
    }
  }
  return best
}

/** How far below Σxx the error of a block can be under a super-scale. */
function estimate({ scale, unit, sums }: Block, superScale: number): number {
  const step = fround(superScale * fround(1 / fround(32 * unit)))
  const middle = middleSub(fround(scale * fround(32 / superScale)))
  let least = 0
  for (let sub = middle - 1; sub <= middle + 1; sub++) {
    const s = fround(step * sub)
    for (let start = 0; start < startCount; start++) {
      const change = fround(s * fround(fround(s * sums.squares[start]!) - fround(2 * sums.products[start]!)))
      if (change < least) least = change
    }
  }
  return fround(fround(unit * unit) * least)
}

/** The best sub-scale of each block next to the one it wants. */
function chooseSubs(bits: CodeBits, values: Float32Array, blocks: readonly Block[], superScale: number): Choice {
  let total = 0
  const subs = blocks.map((block) => {
    const middle = middleSub(fround(block.scale * fround(32 / superScale)))
    let sub = block.scale > 0 ? middle : 0
    let error = blockError(bits, values, block, superScale, sub)
    for (const other of block.scale > 0 ? [middle - 1, middle + 1] : []) {
      const tried = blockError(bits, values, block, superScale, other)
      if (tried >= error) continue
      error = tried
      sub = other
    }
    total = fround(total + error)
    return sub
  })
  return { superScale, subs, error: total }
}

/** The super-scale that suits the codes of a choice; 0 when all codes are zeros. */
function refinedSuper(bits: CodeBits, values: Float32Array, blocks: readonly Block[], choice: Choice): number {
  let products = 0
  let squares = 0
  for (const [i, sub] of choice.subs.entries()) {
    if (sub === 0) continue
    const inverse = fround(1 / scaleWith(choice.superScale, sub))
    const { product, square } = sumUp(bits, values, blocks[i]!.index, inverse)
    const weight = sub / 32
    products = fround(products + fround(weight * product))
    squares = fround(squares + fround(fround(weight * weight) * square))
  }
  return squares === 0 ? 0 : fround(products / squares)
}
