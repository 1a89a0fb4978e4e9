// The first step of the search in plain TypeScript: sixteen scales are tried on a block, in whole numbers. assembly/mcf/starts.ts explains how.

import { blockValues, type CodeBits, type CodeSet, type Limits } from '../tile.js'
import { clamp, roundEven } from './pack.js'

const { fround } = Math

export const startCount = 16

interface Grid {
  /** Steps from zero to the block's largest magnitude. */
  readonly resolution: number
  readonly first: number
  readonly step: number
  /** With all codes, this many of the first starts are left out, and as many are added after the last one. */
  readonly later: number
}

const grids: Readonly<Record<CodeBits, Grid>> = {
  8: { resolution: 2048, first: 1840, step: 13, later: 2 },
  6: { resolution: 1024, first: 800, step: 14, later: 2 },
  4: { resolution: 512, first: 320, step: 15, later: 3 },
  3: { resolution: 512, first: 128, step: 12, later: 3 },
  2: { resolution: 256, first: 90, step: 18, later: 3 },
}

export const resolutionOf = (bits: CodeBits): number => grids[bits].resolution

export interface Sums {
  /** Σcx and Σcc per start, with x in whole steps. */
  readonly products: Float32Array
  readonly squares: Float32Array
}

export const createSums = (): Sums => ({
  products: new Float32Array(startCount),
  squares: new Float32Array(startCount),
})

/** The best start. */
export interface Start {
  readonly scale: number
  /** How far below Σxx the error is: (Σcx)² / Σcc, in squares of a whole step. */
  readonly gain: number
}

/** Fills the sums and returns the best start. */
export function tryStarts(
  bits: CodeBits,
  set: CodeSet,
  limits: Limits,
  values: Float32Array,
  block: number,
  magnitude: number,
  { products, squares }: Sums,
): Start {
  const { resolution, first, step, later } = grids[bits]
  const skipped = set === 'all' ? later : 0
  const factor = fround(resolution / magnitude)
  const whole = Int32Array.from({ length: blockValues }, (_, i) => {
    return roundEven(fround(values[block * blockValues + i]! * factor))
  })
  let best = 0
  let bestGain = -1
  for (let start = 0; start < startCount; start++) {
    let product = 0
    let square = 0
    for (const x of whole) {
      const code = clamp((x * (first + (start + skipped) * step) + 0x4000) >> 15, limits)
      product += code * x
      square += code * code
    }
    products[start] = product
    squares[start] = square
    const gain = fround(fround(product * product) / square)
    if (gain > bestGain) {
      best = fround(product / square)
      bestGain = gain
    }
  }
  return { scale: fround(best * fround(magnitude / resolution)), gain: bestGain }
}
