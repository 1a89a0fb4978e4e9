// The f16 scale of each super-block and the sub-scales of its blocks that give the least squared error. The best of several super-scales is
// refined on the values themselves.
import { foundSuper, searchSide, tryReference } from './choose-supers'
import { prepareLimits, squareSum } from './errors'
import { largestF16, nearestF16, negative, smallestF16 } from './f16-scales'
import { blockMagnitude, largestCode } from './lanes'
import {
  codeSquareTable,
  keptSubTable,
  mirroredLimits,
  plainTable,
  positiveLimits,
  productTable,
  scaleTable,
  squareTable,
  subTable,
  symmetricLimits,
  unitTable,
} from './memory-map'
import { apart, bestGain, bestScale, prepareStarts, resolutionOf, trySign, tryStarts } from './starts'

/** More than any scale: see `searchSymmetric`. */
const tooLarge: u32 = 0x10000
/** The largest scale that a block can have. */
const largestScale: f32 = (largestF16 * 63) / 32
/** Half of the smallest scale that a block can have, which is 1/32 of the smallest f16: everything below rounds to code 0. */
const negligible: f32 = smallestF16 / 64

/** Using all codes saves 14 % of the squared error with 4 bits and more with fewer: below this share, symmetric codes are not tried. */
const muchBetter: f32 = 0.9

/** Searches one super-block of `count` blocks. Returns the f16 code of its scale, or `tooLarge` plus the block that is too large. */
function searchSymmetric(bits: i32, values: usize, count: i32): u32 {
  const maxCode = largestCode(bits)
  let largest: f32 = 0
  let plain: f32 = 0
  for (let block = 0; block < count; block++) {
    const from = values + 128 * block
    const magnitude = blockMagnitude(from)
    const own: f32 = magnitude / maxCode
    if (own > 4 * largestF16) return tooLarge + block
    store<f32>(plainTable + 4 * block, own)
    plain = max(plain, own)
    const sums = productTable + 64 * block
    const codeSums = codeSquareTable + 64 * block
    let scale: f32 = 0
    if (magnitude > negligible) {
      tryStarts(bits, from, magnitude, sums, codeSums)
      scale = bestScale(bits, magnitude, sums, codeSums)
    }
    if (scale > largestScale) return tooLarge + block
    store<f32>(scaleTable + 4 * block, scale)
    store<f32>(unitTable + 4 * block, magnitude / resolutionOf(bits))
    store<f32>(squareTable + 4 * block, squareSum(from))
    store<f32>(subTable + 4 * block, 0)
    largest = max(largest, scale)
  }
  if (largest === 0) return 0
  const error = searchSide(bits, values, count, 0, symmetricLimits)
  // The choice of the reference program is tried as well, so that no super-block comes out worse.
  tryReference(values, count, plain, symmetricLimits, error)
  return nearestF16(foundSuper)
}

/**
 * The same with all codes. The scale of a super-block can be negative, and with it those of all its blocks: sub-scales have no sign. The
 * starts tell which sign is better, and which error symmetric codes can reach; where all codes are not clearly better, these are tried.
 */
function searchAllCodes(bits: i32, values: usize, count: i32): u32 {
  const maxCode = largestCode(bits)
  let largest: f32 = 0
  let plain: f32 = 0
  let symmetricError: f32 = 0
  let positiveGain: f32 = 0
  let negativeGain: f32 = 0
  for (let block = 0; block < count; block++) {
    const from = values + 128 * block
    const magnitude = blockMagnitude(from)
    const own: f32 = magnitude / maxCode
    if (own > 4 * largestF16) return tooLarge + block
    store<f32>(plainTable + 4 * block, own)
    plain = max(plain, own)
    const unit: f32 = magnitude / resolutionOf(bits)
    const square = squareSum(from)
    const sums = productTable + 64 * block
    const codeSums = codeSquareTable + 64 * block
    let scale: f32 = 0
    let positiveScale: f32 = 0
    let negativeScale: f32 = 0
    if (magnitude > negligible) {
      tryStarts(bits, from, magnitude, sums, codeSums)
      trySign(bits, false, sums, codeSums)
      trySign(bits, true, sums, codeSums)
      scale = bestScale(bits, magnitude, sums, codeSums)
      symmetricError += square - unit * unit * bestGain
      positiveScale = bestScale(bits, magnitude, sums + apart, codeSums + apart)
      positiveGain += unit * unit * bestGain
      negativeScale = bestScale(bits, magnitude, sums + 2 * apart, codeSums + 2 * apart)
      negativeGain += unit * unit * bestGain
    }
    if (scale > largestScale) return tooLarge + block
    store<f32>(scaleTable + 4 * block, scale)
    store<f32>(scaleTable + apart + 4 * block, positiveScale)
    store<f32>(scaleTable + 2 * apart + 4 * block, negativeScale)
    store<f32>(unitTable + 4 * block, unit)
    store<f32>(squareTable + 4 * block, square)
    store<f32>(subTable + 4 * block, 0)
    largest = max(largest, scale)
  }
  if (largest === 0) return 0
  const isMirrored = negativeGain > positiveGain
  let sign: u32 = isMirrored ? negative : 0
  let error = searchSide(
    bits,
    values,
    count,
    isMirrored ? 2 * apart : apart,
    isMirrored ? mirroredLimits : positiveLimits,
  )
  let superScale = foundSuper
  if (error > symmetricError * muchBetter) {
    memory.copy(keptSubTable, subTable, 32)
    const other = searchSide(bits, values, count, 0, symmetricLimits)
    if (other < error) {
      error = other
      superScale = foundSuper
      sign = 0
    } else memory.copy(subTable, keptSubTable, 32)
  }
  if (tryReference(values, count, plain, positiveLimits, error)) return nearestF16(foundSuper)
  return nearestF16(superScale) | sign
}

/** Returns the first block that is too large, or -1. */
export function searchSupers(
  bits: i32,
  all: bool,
  values: usize,
  rows: i32,
  perRow: i32,
  supers: usize,
  subScales: usize,
): i32 {
  prepareStarts(bits)
  prepareLimits(bits)
  for (let row = 0; row < rows; row++) {
    for (let first = 0; first < perRow; first += 8) {
      const count = min(8, perRow - first)
      const code = all ? searchAllCodes(bits, values, count) : searchSymmetric(bits, values, count)
      if (code >= tooLarge) return row * perRow + first + <i32>(code - tooLarge)
      let used: i32 = 0
      for (let block = 0; block < count; block++) {
        const sub = <i32>load<f32>(subTable + 4 * block)
        store<u8>(subScales + block, <u8>sub)
        used |= sub
      }
      store<u16>(supers, <u16>(used === 0 ? 0 : code))
      supers += 2
      subScales += count
      values += 128 * count
    }
  }
  return -1
}
