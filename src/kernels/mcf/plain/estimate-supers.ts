// Compares sixteen super-scales by the sums of the starts, in plain TypeScript: they give the error under any scale s as
// Σxx − s·(2·Σcx − s·Σcc), as long as the codes stay the same.

import type { CodeBits } from '../tile.js'
import { f16Value, largestF16, nearestF16, smallestF16 } from './f16-scales.js'
import { roundEven } from './pack.js'
import { type Sums, startCount } from './starts.js'

const { fround } = Math
const tries = 16

/** What is known of a block before its super-scale is chosen. */
export interface Block {
  readonly index: number
  /** The best scale for the block alone; 0 when its values are too small for any scale. */
  readonly scale: number
  /** The size of a whole step in the sums. */
  readonly unit: number
  /** Σxx. */
  readonly square: number
  readonly sums: Sums
}

export const storableF16 = (value: number): number => nearestF16(Math.min(Math.max(value, smallestF16), largestF16))

/** The whole sub-scale nearest to the wanted one that has a neighbour on both sides. */
export const middleSub = (wanted: number): number => Math.max(roundEven(Math.min(wanted, 62)), 1)

/** The best super-scale, from one that gives the largest block the sub-scale 63.4 (it gets 63) upwards. */
export function bestSuper(bits: CodeBits, blocks: readonly Block[]): number {
  const largest = Math.max(...blocks.map(({ scale }) => scale))
  const subStep = bits === 6 ? 0.5 : 1
  let best = 0
  let minChange = Infinity
  for (let index = 0; index < tries; index++) {
    const wanted = fround(fround(largest * 32) / fround(fround(63.4) - fround(index * subStep)))
    const superScale = f16Value(storableF16(wanted))
    const change = blocks.reduce((sum, block) => (block.scale > 0 ? fround(sum + estimate(block, superScale)) : sum), 0)
    if (change >= minChange) continue
    best = superScale
    minChange = change
  }
  return best
}

/** How far below Σxx the error of a block can be under a super-scale. */
function estimate({ scale, unit, sums }: Block, superScale: number): number {
  const step = fround(superScale * fround(1 / fround(32 * unit)))
  const middle = middleSub(fround(scale * fround(32 / superScale)))
  let minimum = 0
  for (let sub = middle - 1; sub <= middle + 1; sub++) {
    const s = fround(step * sub)
    for (let start = 0; start < startCount; start++) {
      const change = fround(s * fround(fround(s * sums.squares[start]!) - fround(2 * sums.products[start]!)))
      if (change < minimum) minimum = change
    }
  }
  return fround(fround(unit * unit) * minimum)
}
