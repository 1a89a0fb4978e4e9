// The f16 scale of each block that gives the least squared error. For given codes c the best scale is Σcx / Σcc, for a given scale the best
// codes are the nearest ones; the error as a function of the scale has many valleys, so a search begins at several places.
import { errorOf, products, squareSum, squares, sumUp } from './errors'
import { halfValue, largestHalf, nearestHalf, smallestHalf, truncatedHalf } from './half'
import { blockMagnitude, largestCode } from './lanes'
import { prepareStarts, tryStarts } from './starts'

const productTable: usize = 2048
const squareTable: usize = 4096

/** Returns the first block whose scale f16 cannot hold, or -1. */
export function searchBlocks(bits: i32, values: usize, blocks: i32, scales: usize): i32 {
  const most = largestCode(bits)
  prepareStarts(bits)
  for (let block = 0; block < blocks; block++) {
    const magnitude = blockMagnitude(values)
    let code: u32 = 0
    // Half of the smallest scale and less always rounds to code 0.
    if (magnitude > smallestHalf / 2) {
      const plain: f32 = magnitude / most
      if (plain > 2 * largestHalf) return block
      const found = tryStarts(bits, values, magnitude, productTable, squareTable)
      sumUp(values, 1 / found, most)
      const wanted: f32 = products / squares
      code = nearestHalf(max(wanted, smallestHalf))
      if (code > 0x7bff) return block
      // The reference's choice is tried as well, so that no block comes out worse than there.
      let error = errorOf(values, halfValue(code), most)
      const cut = truncatedHalf(plain)
      if (cut > 0 && cut < 0x7c00) {
        const other = errorOf(values, halfValue(cut), most)
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
