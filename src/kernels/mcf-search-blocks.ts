// The scale of each block with the least squared error, in plain TypeScript. For given codes c the best scale is Σcx / Σcc, for a given scale
// the best codes are the nearest ones; the error as a function of the scale has many valleys, so the search begins at several places.
import { errorOf, squareSum, sumUp } from './mcf-errors.js'
import { halfValue, infiniteHalf, largestHalf, nearestHalf, smallestHalf, truncatedHalf } from './mcf-half.js'
import { blockMagnitude } from './mcf-reference.js'
import { createSums, tryStarts } from './mcf-starts.js'
import { type CodeBits, largestCode } from './mcf-tile.js'

const { fround } = Math

export function searchBlocksPlain(bits: CodeBits, values: Float32Array, scales: Uint16Array): number {
  const sums = createSums()
  for (let block = 0; block < scales.length; block++) {
    const magnitude = blockMagnitude(values, block)
    let code = 0
    // Half of the smallest scale and less always rounds to code 0.
    if (magnitude > smallestHalf / 2) {
      const plain = fround(magnitude / largestCode(bits))
      if (plain > 2 * largestHalf) return block
      const found = tryStarts(bits, values, block, magnitude, sums)
      const { product, square } = sumUp(bits, values, block, fround(1 / found))
      const wanted = fround(product / square)
      code = nearestHalf(Math.max(wanted, smallestHalf))
      if (code >= infiniteHalf) return block
      // The reference's choice is tried as well, so that no block comes out worse than there.
      let error = errorOf(bits, values, block, halfValue(code))
      const cut = truncatedHalf(plain)
      if (cut > 0 && cut < infiniteHalf) {
        const other = errorOf(bits, values, block, halfValue(cut))
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
