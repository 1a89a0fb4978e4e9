// The scale of each block with the least squared error, in plain TypeScript. For given codes c the best scale is Σcx / Σcc, for a given scale
// the best codes are the nearest ones; the error as a function of the scale has many local minima, so the search starts in several
// places. assembly/mcf/search-blocks.ts explains what is different when all codes are used.

import { blockValues, type CodeBits, type CodeSet, codeLimits, largestCode, mirrored } from '../tile.js'
import { errorOf, squareSum, sumUp } from './errors.js'
import { f16Value, infiniteF16, largestF16, nearestF16, negative, smallestF16, truncatedF16 } from './f16-scales.js'
import { blockMagnitude } from './reference.js'
import { createSums, tryStarts } from './starts.js'

const { fround } = Math

export function searchBlocksPlain(bits: CodeBits, set: CodeSet, values: Float32Array, scales: Uint16Array): number {
  const sums = createSums()
  const allLimits = codeLimits(bits, set)
  /** The scale that suits the codes of the best start. */
  const wantedScale = (which: CodeSet, limits: typeof allLimits, block: number, magnitude: number): number => {
    const { scale } = tryStarts(bits, which, limits, values, block, magnitude, sums)
    const { product, square } = sumUp(limits, values, block, fround(1 / scale))
    return fround(product / square)
  }
  for (let block = 0; block < scales.length; block++) {
    const magnitude = blockMagnitude(values, block)
    let code = 0
    // Up to half of the smallest scale everything rounds to code 0.
    if (magnitude > smallestF16 / 2) {
      const plain = fround(magnitude / largestCode(bits))
      if (plain > 2 * largestF16) return block
      const symmetric = codeLimits(bits, 'symmetric')
      const wanted = wantedScale('symmetric', symmetric, block, magnitude)
      code = nearestF16(Math.max(wanted, smallestF16))
      if (code >= infiniteF16) return block
      let error = errorOf(symmetric, values, block, f16Value(code))
      if (set === 'all') {
        const isMirrored = hasValue(values, block, magnitude)
        const limits = isMirrored ? mirrored(allLimits) : allLimits
        const half = nearestF16(Math.max(wantedScale('all', limits, block, magnitude), smallestF16))
        const other = half >= infiniteF16 ? Infinity : errorOf(limits, values, block, f16Value(half))
        if (other < error) {
          code = isMirrored ? half + negative : half
          error = other
        }
      }
      // The choice of the reference program is tried as well, so that no block comes out worse.
      const cut = truncatedF16(plain)
      if (cut > 0 && cut < infiniteF16) {
        const other = errorOf(allLimits, values, block, f16Value(cut))
        if (other < error) {
          code = cut
          error = other
        }
      }
      if (wanted < smallestF16 && squareSum(values, block) <= error) code = 0
    }
    scales[block] = code
  }
  return -1
}

const hasValue = (values: Float32Array, block: number, value: number): boolean =>
  values.subarray(block * blockValues, (block + 1) * blockValues).includes(value)
