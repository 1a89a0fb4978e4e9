// The f16 scale of each block that gives the least squared error. For given codes c the best scale is Σcx / Σcc, for a given scale the best
// codes are the nearest ones; the error as a function of the scale has many local minima, so the search starts in several places.
//
// When all codes are used, there is one more of them below zero than above. A negative scale mirrors this; the search works with magnitudes
// of scales and mirrors the limits of the codes instead. The extra code belongs on the side of the largest magnitude: trying the other side
// as well made no measurable difference. Symmetric codes are tried too, so that no block comes out worse than with them.
import { errorOf, prepareLimits, products, squareSum, squares, sumUp } from './errors'
import { f16Value, largestF16, nearestF16, negative, smallestF16, truncatedF16 } from './f16-scales'
import { blockMagnitude, blockMaximum, largestCode } from './lanes'
import { codeSquareTable, mirroredLimits, positiveLimits, productTable, symmetricLimits } from './memory-map'
import { apart, bestScale, prepareStarts, trySign, tryStarts } from './starts'

/** Returns the first block whose scale f16 cannot hold, or -1. */
export function searchBlocks(bits: i32, all: bool, values: usize, blocks: i32, scales: usize): i32 {
  const largest = largestCode(bits)
  prepareStarts(bits)
  prepareLimits(bits)
  for (let block = 0; block < blocks; block++) {
    const magnitude = blockMagnitude(values)
    let code: u32 = 0
    // Up to half of the smallest scale everything rounds to code 0.
    if (magnitude > smallestF16 / 2) {
      const plain: f32 = magnitude / largest
      if (plain > 2 * largestF16) return block
      tryStarts(bits, values, magnitude, productTable, codeSquareTable)
      sumUp(values, 1 / bestScale(bits, magnitude, productTable, codeSquareTable), symmetricLimits)
      const wanted: f32 = products / squares
      code = nearestF16(max(wanted, smallestF16))
      if (code > 0x7bff) return block
      let error = errorOf(values, f16Value(code), symmetricLimits)
      if (all) {
        const isMirrored = blockMaximum(values) === magnitude
        trySign(bits, isMirrored, productTable, codeSquareTable)
        const side: usize = isMirrored ? 2 * apart : apart
        const limits = isMirrored ? mirroredLimits : positiveLimits
        sumUp(values, 1 / bestScale(bits, magnitude, productTable + side, codeSquareTable + side), limits)
        const half = nearestF16(max(products / squares, smallestF16))
        const other: f32 = half > 0x7bff ? Infinity : errorOf(values, f16Value(half), limits)
        if (other < error) {
          code = isMirrored ? half | negative : half
          error = other
        }
      }
      // The choice of the reference program is tried as well, so that no block comes out worse.
      const cut = truncatedF16(plain)
      if (cut > 0 && cut < 0x7c00) {
        const other = errorOf(values, f16Value(cut), all ? positiveLimits : symmetricLimits)
        if (other < error) {
          code = cut
          error = other
        }
      }
      if (wanted < smallestF16 && squareSum(values) <= error) code = 0
    }
    store<u16>(scales, <u16>code)
    values += 128
    scales += 2
  }
  return -1
}
