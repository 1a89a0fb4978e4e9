// The scale of each block with the least squared error, in plain TypeScript. For given codes c the best scale is Σcx / Σcc, for a given scale
// the best codes are the nearest ones; the error as a function of the scale has many valleys, so the search begins at several places.
// assembly/mcf/search-blocks.ts tells what is different when all codes are used.
import { errorOf, squareSum, sumUp } from './mcf-errors.js'
import { halfValue, infiniteHalf, largestHalf, nearestHalf, negative, smallestHalf, truncatedHalf } from './mcf-half.js'
import { blockMagnitude } from './mcf-reference.js'
import { createSums, tryStarts } from './mcf-starts.js'
import { blockValues, type CodeBits, type CodeSet, codeLimits, largestCode, turned } from './mcf-tile.js'

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
    // Half of the smallest scale and less always rounds to code 0.
    if (magnitude > smallestHalf / 2) {
      const plain = fround(magnitude / largestCode(bits))
      if (plain > 2 * largestHalf) return block
      const symmetric = codeLimits(bits, 'symmetric')
      const wanted = wantedScale('symmetric', symmetric, block, magnitude)
      code = nearestHalf(Math.max(wanted, smallestHalf))
      if (code >= infiniteHalf) return block
      let error = errorOf(symmetric, values, block, halfValue(code))
      if (set === 'all') {
        const isTurned = hasValue(values, block, magnitude)
        const limits = isTurned ? turned(allLimits) : allLimits
        const half = nearestHalf(Math.max(wantedScale('all', limits, block, magnitude), smallestHalf))
        const other = half >= infiniteHalf ? Infinity : errorOf(limits, values, block, halfValue(half))
        if (other < error) {
          code = isTurned ? half + negative : half
          error = other
        }
      }
      // The reference's choice is tried as well, so that no block comes out worse than there.
      const cut = truncatedHalf(plain)
      if (cut > 0 && cut < infiniteHalf) {
        const other = errorOf(allLimits, values, block, halfValue(cut))
        if (other < error) {
          code = cut
          error = other
        }
      }
      if (wanted < smallestHalf && squareSum(values, block) <= error) code = 0
    }
    scales[block] = code
  }
  return -1
}

const hasValue = (values: Float32Array, block: number, value: number): boolean =>
  values.subarray(block * blockValues, (block + 1) * blockValues).includes(value)
