// The f16 scale of each super-block and the sub-scales of its blocks that give the least squared error. Sixteen super-scales are compared by
// the sums that the starts left behind, which costs little; the best one is then refined on the values themselves.
import { errorOf, products, squareSum, squares, sumUp } from './errors'
import { halfValue, largestHalf, nearestHalf, smallestHalf, truncatedHalf } from './half'
import { blockMagnitude, largestCode, roundingBias } from './lanes'
import { subScaleFor } from './reference'
import { prepareStarts, resolutionOf, tryStarts } from './starts'

const tries: i32 = 16

// Tables for the eight blocks of a super-block, a f32 each: the best scale alone, the size of a whole step, Σxx, and sub-scales.
const scaleTable: usize = 64
const unitTable: usize = 96
const squareTable: usize = 128
const subTable: usize = 160
const otherSubTable: usize = 192
// The super-scales that are tried, 32 over each of them, and the error that is estimated for each.
const superTable: usize = 256
const inverseTable: usize = 320
const errorTable: usize = 384
/** The weight of the block that is being estimated, and how many of its steps a sub-scale of 1 takes. */
const blockTable: usize = 448
// Sixteen f32 for each block.
const productTable: usize = 2048
const codeSquareTable: usize = 4096

function storableHalf(value: f32): u32 {
  return nearestHalf(min(max(value, smallestHalf), largestHalf))
}

function scaleWith(superScale: f32, sub: f32): f32 {
  return superScale * (sub / 32)
}

/** The whole sub-scale next to a wanted one that has a neighbour on both sides. */
function middleSub(wanted: f32): f32 {
  return max(min(wanted, 62) + roundingBias - roundingBias, 1)
}

/** s·(s·Σcc − 2·Σcx), for four starts: how far the error is from Σxx. */
function changes(scale: v128, products: v128, squares: v128): v128 {
  return f32x4.mul(scale, f32x4.sub(f32x4.mul(scale, squares), products))
}

/** Adds what a block contributes under every super-scale to `errorTable`. */
function estimate(block: i32): void {
  const scale = load<f32>(scaleTable + 4 * block)
  const unit = load<f32>(unitTable + 4 * block)
  const from = productTable + 64 * block
  const squaresFrom = codeSquareTable + 64 * block
  const productA = v128.load(from)
  const productB = v128.load(from, 16)
  const productC = v128.load(from, 32)
  const productD = v128.load(from, 48)
  const squareA = v128.load(squaresFrom)
  const squareB = v128.load(squaresFrom, 16)
  const squareC = v128.load(squaresFrom, 32)
  const squareD = v128.load(squaresFrom, 48)
  // Through memory, so that the loop does not work them out each time: see starts.ts.
  store<f32>(blockTable, unit * unit)
  store<f32>(blockTable + 4, 1 / (32 * unit))
  for (let index = 0; index < tries; index++) {
    const step: f32 = load<f32>(superTable + 4 * index) * load<f32>(blockTable + 4)
    const middle = middleSub(scale * load<f32>(inverseTable + 4 * index))
    const below = f32x4.splat(step * (middle - 1))
    const near = f32x4.splat(step * middle)
    const above = f32x4.splat(step * (middle + 1))
    let least = f32x4.pmin(f32x4.splat(0), changes(below, productA, squareA))
    least = f32x4.pmin(least, changes(below, productB, squareB))
    least = f32x4.pmin(least, changes(below, productC, squareC))
    least = f32x4.pmin(least, changes(below, productD, squareD))
    let other = f32x4.pmin(changes(near, productA, squareA), changes(near, productB, squareB))
    other = f32x4.pmin(other, changes(near, productC, squareC))
    other = f32x4.pmin(other, changes(near, productD, squareD))
    least = f32x4.pmin(least, changes(above, productA, squareA))
    other = f32x4.pmin(other, changes(above, productB, squareB))
    least = f32x4.pmin(least, changes(above, productC, squareC))
    other = f32x4.pmin(other, changes(above, productD, squareD))
    least = f32x4.pmin(least, other)
    least = f32x4.pmin(least, i32x4.shuffle(least, least, 2, 3, 0, 1))
    least = f32x4.pmin(least, i32x4.shuffle(least, least, 1, 0, 3, 2))
    const at = errorTable + 4 * index
    store<f32>(at, load<f32>(at) + load<f32>(blockTable) * f32x4.extract_lane(least, 0))
  }
}

/** The best sub-scale of each block for a super-scale, tried on the values. Returns the error. */
function chooseSubs(values: usize, count: i32, superScale: f32, most: f32): f32 {
  let total: f32 = 0
  for (let block = 0; block < count; block++) {
    const at = <usize>block * 4
    const scale = load<f32>(scaleTable + at)
    const square = load<f32>(squareTable + at)
    let sub: f32 = 0
    let error = square
    if (scale > 0) {
      const middle = middleSub(scale * (32 / superScale))
      sub = middle
      error = errorOf(values + 32 * at, scaleWith(superScale, middle), most)
      const below = middle === 1 ? square : errorOf(values + 32 * at, scaleWith(superScale, middle - 1), most)
      if (below < error) {
        error = below
        sub = middle - 1
      }
      const above = errorOf(values + 32 * at, scaleWith(superScale, middle + 1), most)
      if (above < error) {
        error = above
        sub = middle + 1
      }
    }
    store<f32>(subTable + at, sub)
    total += error
  }
  return total
}

/** The super-scale that suits the codes of the chosen sub-scales; 0 when all codes are zeros. */
function refinedSuper(values: usize, count: i32, superScale: f32, most: f32): f32 {
  let product: f32 = 0
  let square: f32 = 0
  for (let block = 0; block < count; block++) {
    const sub = load<f32>(subTable + 4 * block)
    if (sub === 0) continue
    sumUp(values + 128 * block, 1 / scaleWith(superScale, sub), most)
    const weight: f32 = sub / 32
    product += weight * products
    square += weight * weight * squares
  }
  return square === 0 ? <f32>0 : product / square
}

/** The error of the sub-scales in a table. */
function errorWith(values: usize, count: i32, superScale: f32, subs: usize, most: f32): f32 {
  let total: f32 = 0
  for (let block = 0; block < count; block++) {
    const sub = load<f32>(subs + 4 * block)
    if (sub === 0) total += load<f32>(squareTable + 4 * block)
    else total += errorOf(values + 128 * block, scaleWith(superScale, sub), most)
  }
  return total
}

/** Searches one super-block of `count` blocks. Returns the f16 code of its scale, or 0x10000 plus the block that is too large. */
function searchSuper(bits: i32, values: usize, count: i32, subStep: f32, most: f32): u32 {
  const resolution = resolutionOf(bits)
  let largest: f32 = 0
  let plain: f32 = 0
  for (let block = 0; block < count; block++) {
    const from = values + 128 * block
    const magnitude = blockMagnitude(from)
    if (magnitude / most > 4 * largestHalf) return 0x10000 + block
    plain = max(plain, magnitude / most)
    const table = <usize>block * 64
    let scale: f32 = 0
    // Half of the smallest scale that a super-block can give, 1/32 of the smallest f16, always rounds to code 0.
    if (magnitude > smallestHalf / 64)
      scale = tryStarts(bits, from, magnitude, productTable + table, codeSquareTable + table)
    if (scale > largestHalf * (<f32>63 / 32)) return 0x10000 + block
    store<f32>(scaleTable + 4 * block, scale)
    store<f32>(unitTable + 4 * block, magnitude / resolution)
    store<f32>(squareTable + 4 * block, squareSum(from))
    store<f32>(subTable + 4 * block, 0)
    largest = max(largest, scale)
  }
  if (largest === 0) return 0
  for (let index = 0; index < tries; index++) {
    const half = storableHalf((largest * 32) / (<f32>63.4 - <f32>index * subStep))
    store<f32>(superTable + 4 * index, halfValue(half))
    store<f32>(inverseTable + 4 * index, 32 / halfValue(half))
    store<f32>(errorTable + 4 * index, 0)
  }
  for (let block = 0; block < count; block++) {
    if (load<f32>(scaleTable + 4 * block) > 0) estimate(block)
  }
  let chosen = 0
  for (let index = 1; index < tries; index++) {
    if (load<f32>(errorTable + 4 * index) < load<f32>(errorTable + 4 * chosen)) chosen = index
  }
  let superScale = load<f32>(superTable + 4 * chosen)
  let least = chooseSubs(values, count, superScale, most)
  const refined = refinedSuper(values, count, superScale, most)
  if (refined > 0) {
    const other = halfValue(storableHalf(refined))
    const error = errorWith(values, count, other, subTable, most)
    if (error < least) {
      superScale = other
      least = error
    }
  }
  // The reference's choice is tried as well, so that no super-block comes out worse than there.
  const cut = truncatedHalf(plain)
  if (cut > 0 && cut < 0x7c00) {
    for (let block = 0; block < count; block++) {
      const sub = subScaleFor(blockMagnitude(values + 128 * block) / most, plain)
      store<f32>(otherSubTable + 4 * block, <f32>sub)
    }
    if (errorWith(values, count, halfValue(cut), otherSubTable, most) < least) {
      superScale = halfValue(cut)
      memory.copy(subTable, otherSubTable, 32)
    }
  }
  return nearestHalf(superScale)
}

/** Returns the first block that is too large, or -1. */
export function searchSupers(bits: i32, values: usize, rows: i32, perRow: i32, supers: usize, subScales: usize): i32 {
  const most = largestCode(bits)
  prepareStarts(bits)
  const subStep: f32 = bits === 6 ? 0.5 : 1
  for (let row = 0; row < rows; row++) {
    for (let first = 0; first < perRow; first += 8) {
      const count = min(8, perRow - first)
      const code = searchSuper(bits, values, count, subStep, most)
      if (code >= 0x10000) return row * perRow + first + <i32>(code - 0x10000)
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
