// The scale of each super-block and the sub-scales of its blocks with the least squared error, in plain TypeScript. The best of several
// super-scales is refined on the values themselves. Scales are magnitudes here, and the limits of the codes are mirrored for negative ones;
// assembly/mcf/search-supers.ts explains how all codes are used.

import {
  type CodeBits,
  type CodeSet,
  codeLimits,
  type Limits,
  largestCode,
  mirrored,
  superBlocks,
  type TileShape,
} from '../tile.js'
import { errorOf, squareSum, sumUp } from './errors.js'
import { type Block, bestSuper, middleSub, storableF16 } from './estimate-supers.js'
import { f16Value, infiniteF16, largestF16, nearestF16, negative, smallestF16, truncatedF16 } from './f16-scales.js'
import { blockMagnitude, subScaleFor } from './reference.js'
import { createSums, resolutionOf, tryStarts } from './starts.js'

const { fround } = Math
/** Below this share of their error, symmetric codes are not tried. */
const muchBetter = 0.9

interface Choice {
  readonly limits: Limits
  readonly superScale: number
  readonly subs: readonly number[]
  readonly error: number
}

export function searchSupersPlain(
  bits: CodeBits,
  set: CodeSet,
  values: Float32Array,
  { rows, perRow }: TileShape,
  supers: Uint16Array,
  subScales: Uint8Array,
): number {
  const limits = codeLimits(bits, set)
  let at = 0
  for (let first = 0; first < rows * perRow; ) {
    const count = Math.min(superBlocks, perRow - (first % perRow))
    const found = searchSuper(bits, set, values, first, count)
    if (typeof found === 'number') return found
    for (const [i, sub] of found.subs.entries()) subScales[first + i] = sub
    const sign = found.limits.high > limits.high ? negative : 0
    supers[at++] = found.subs.some((sub) => sub > 0) ? nearestF16(found.superScale) + sign : 0
    first += count
  }
  return -1
}

/** The codes that are tried on a super-block, and its blocks with what their starts found for these codes. */
interface Side {
  readonly limits: Limits
  readonly blocks: readonly Block[]
  /** How far below Σxx the error is when each block has a scale of its own. */
  readonly gain: number
  readonly error: number
}

/** The best choice, or the index of the block that is too large. */
function searchSuper(
  bits: CodeBits,
  set: CodeSet,
  values: Float32Array,
  first: number,
  count: number,
): Choice | number {
  const plains = Array.from({ length: count }, (_, i) => fround(blockMagnitude(values, first + i) / largestCode(bits)))
  const limits = codeLimits(bits, set)
  const symmetric = lookAt(bits, 'symmetric', codeLimits(bits, 'symmetric'), values, first, count)
  const isTooLarge = ({ scale }: Block, i: number): boolean =>
    plains[i]! > 4 * largestF16 || scale > (largestF16 * 63) / 32
  const bad = symmetric.blocks.findIndex(isTooLarge)
  if (bad >= 0) return first + bad
  if (symmetric.blocks.every(({ scale }) => scale === 0)) {
    return { limits, superScale: 0, subs: symmetric.blocks.map(() => 0), error: 0 }
  }
  let best: Choice | undefined
  if (set === 'all') {
    const [a, b] = [limits, mirrored(limits)].map((each) => lookAt(bits, 'all', each, values, first, count)) as [
      Side,
      Side,
    ]
    best = searchSide(bits, values, b.gain > a.gain ? b : a)
  }
  if (!best || best.error > fround(symmetric.error * fround(muchBetter))) {
    const other = searchSide(bits, values, symmetric)
    if (!best || other.error < best.error) best = other
  }
  // The choice of the reference program is tried as well, so that no super-block comes out worse.
  const plain = Math.max(...plains)
  const cut = truncatedF16(plain)
  if (cut === 0 || cut >= infiniteF16) return best
  const subs = plains.map((own) => subScaleFor(own, plain))
  const reference = choiceOf(limits, values, symmetric.blocks, f16Value(cut), subs)
  return reference.error < best.error ? reference : best
}

function lookAt(
  bits: CodeBits,
  set: CodeSet,
  limits: Limits,
  values: Float32Array,
  first: number,
  count: number,
): Side {
  let [gain, error] = [0, 0]
  const blocks = Array.from({ length: count }, (_, i): Block => {
    const index = first + i
    const magnitude = blockMagnitude(values, index)
    const unit = fround(magnitude / resolutionOf(bits))
    const square = squareSum(values, index)
    const sums = createSums()
    // Up to half of the smallest scale of a block, which is 1/32 of the smallest f16, everything rounds to code 0.
    if (magnitude <= smallestF16 / 64) return { index, scale: 0, unit, square, sums }
    const start = tryStarts(bits, set, limits, values, index, magnitude, sums)
    const gained = fround(fround(unit * unit) * start.gain)
    gain = fround(gain + gained)
    error = fround(error + fround(square - gained))
    return { index, scale: start.scale, unit, square, sums }
  })
  return { limits, blocks, gain, error }
}

function searchSide(bits: CodeBits, values: Float32Array, { limits, blocks }: Side): Choice {
  const best = chooseSubs(limits, values, blocks, bestSuper(bits, blocks))
  const refined = refinedSuper(values, blocks, best)
  if (refined === 0) return best
  const other = choiceOf(limits, values, blocks, f16Value(storableF16(refined)), best.subs)
  return other.error < best.error ? other : best
}

function choiceOf(
  limits: Limits,
  values: Float32Array,
  blocks: readonly Block[],
  superScale: number,
  subs: readonly number[],
): Choice {
  const errors = blocks.map((block, i) => blockError(limits, values, block, superScale, subs[i]!))
  return { limits, superScale, subs, error: errors.reduce((sum, error) => fround(sum + error), 0) }
}

const scaleWith = (superScale: number, sub: number): number => fround(superScale * (sub / 32))

function blockError(limits: Limits, values: Float32Array, block: Block, superScale: number, sub: number): number {
  return sub === 0 ? block.square : errorOf(limits, values, block.index, scaleWith(superScale, sub))
}

/** The best sub-scale of each block next to the one it wants. */
function chooseSubs(limits: Limits, values: Float32Array, blocks: readonly Block[], superScale: number): Choice {
  let total = 0
  const subs = blocks.map((block) => {
    const middle = middleSub(fround(block.scale * fround(32 / superScale)))
    let sub = block.scale > 0 ? middle : 0
    let error = blockError(limits, values, block, superScale, sub)
    for (const other of block.scale > 0 ? [middle - 1, middle + 1] : []) {
      const tried = blockError(limits, values, block, superScale, other)
      if (tried >= error) continue
      error = tried
      sub = other
    }
    total = fround(total + error)
    return sub
  })
  return { limits, superScale, subs, error: total }
}

/** The super-scale that suits the codes of a choice; 0 when all codes are zeros. */
function refinedSuper(values: Float32Array, blocks: readonly Block[], { limits, superScale, subs }: Choice): number {
  let products = 0
  let squares = 0
  for (const [i, sub] of subs.entries()) {
    if (sub === 0) continue
    const { product, square } = sumUp(limits, values, blocks[i]!.index, fround(1 / scaleWith(superScale, sub)))
    const weight = sub / 32
    products = fround(products + fround(weight * product))
    squares = fround(squares + fround(fround(weight * weight) * square))
  }
  return squares === 0 ? 0 : fround(products / squares)
}
