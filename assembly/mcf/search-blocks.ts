// The f16 scale of each block that gives the least squared error. For given codes c the best scale is Σcx / Σcc, for a given scale the best
// codes are the nearest ones; the error as a function of the scale has many valleys, so a search begins at several places.
//
// When all codes are used, there is one more of them below zero than above. A negative scale turns this round; the search goes on with
// magnitudes of scales, and turns the limits of codes instead. The further code belongs on the side of the largest magnitude: trying the
// other side as well makes no difference that could be measured. What symmetric codes give is tried too, so that no block comes out
// worse than with them.
import { errorOf, products, squareSum, squares, sumUp } from './errors'
import { halfValue, largestHalf, nearestHalf, negative, smallestHalf, truncatedHalf } from './half'
import { blockMagnitude, blockMost, largestCode } from './lanes'
import { positive, prepareLimits, symmetric, turned } from './limits'
import { apart, bestScale, prepareStarts, trySign, tryStarts } from './starts'

const productTable: usize = 2048
const squareTable: usize = 4096

/** Returns the first block whose scale f16 cannot hold, or -1. */
export function searchBlocks(bits: i32, all: bool, values: usize, blocks: i32, scales: usize): i32 {
  const largest = largestCode(bits)
  prepareStarts(bits)
  prepareLimits(bits)
  for (let block = 0; block < blocks; block++) {
    const magnitude = blockMagnitude(values)
    let code: u32 = 0
    // Half of the smallest scale and less always rounds to code 0.
    if (magnitude > smallestHalf / 2) {
      const plain: f32 = magnitude / largest
      if (plain > 2 * largestHalf) return block
      tryStarts(bits, values, magnitude, productTable, squareTable)
      sumUp(values, 1 / bestScale(bits, magnitude, productTable, squareTable), symmetric)
      const wanted: f32 = products / squares
      code = nearestHalf(max(wanted, smallestHalf))
      if (code > 0x7bff) return block
      let error = errorOf(values, halfValue(code), symmetric)
      if (all) {
        const isTurned = blockMost(values) === magnitude
        trySign(bits, isTurned, productTable, squareTable)
        const side: usize = isTurned ? 2 * apart : apart
        const limits = isTurned ? turned : positive
        sumUp(values, 1 / bestScale(bits, magnitude, productTable + side, squareTable + side), limits)
        const half = nearestHalf(max(products / squares, smallestHalf))
        const other: f32 = half > 0x7bff ? Infinity : errorOf(values, halfValue(half), limits)
        if (other < error) {
          code = isTurned ? half | negative : half
          error = other
        }
      }
      // The reference's choice is tried as well, so that no block comes out worse than there.
      const cut = truncatedHalf(plain)
      if (cut > 0 && cut < 0x7c00) {
        const other = errorOf(values, halfValue(cut), all ? positive : symmetric)
        if (other < error) {
          code = cut
          error = other
        }
      }
      if (wanted < smallestHalf && squareSum(values) <= error) code = 0
    }
    store<u16>(scales, <u16>code)
    values += 128
    scales += 2
  }
  return -1
}
