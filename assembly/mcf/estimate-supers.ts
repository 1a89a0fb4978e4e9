// Sixteen super-scales are compared by the sums that the starts left in memory, which is cheap.
import { f16Value, largestF16, nearestF16, smallestF16 } from './f16-scales'
import { roundingBias } from './lanes'
import {
  blockTable,
  codeSquareTable,
  errorTable,
  inverseTable,
  productTable,
  scaleTable,
  superTable,
  unitTable,
} from './memory-map'

/** How many super-scales are tried. */
const tries: usize = 16

export function storableF16(value: f32): u32 {
  return nearestF16(min(max(value, smallestF16), largestF16))
}

/** The whole sub-scale nearest to the wanted one that has a neighbour on both sides. */
export function middleSub(wanted: f32): f32 {
  return max(min(wanted, 62) + roundingBias - roundingBias, 1)
}

/** s·(s·Σcc − 2·Σcx), for four starts: how far the error is from Σxx. */
function changes(scale: v128, products: v128, squares: v128): v128 {
  return f32x4.mul(scale, f32x4.sub(f32x4.mul(scale, squares), products))
}

/** Adds what a block contributes under every super-scale to `errorTable`. `side` tells which codes: see the memory map. */
function estimate(block: i32, side: usize): void {
  const scale = load<f32>(scaleTable + side + 4 * block)
  const unit = load<f32>(unitTable + 4 * block)
  const from = productTable + side + 64 * block
  const squaresFrom = codeSquareTable + side + 64 * block
  const productA = v128.load(from)
  const productB = v128.load(from, 16)
  const productC = v128.load(from, 32)
  const productD = v128.load(from, 48)
  const squareA = v128.load(squaresFrom)
  const squareB = v128.load(squaresFrom, 16)
  const squareC = v128.load(squaresFrom, 32)
  const squareD = v128.load(squaresFrom, 48)
  // Through memory, so that they are not recomputed in the loop: see starts.ts.
  store<f32>(blockTable, unit * unit)
  store<f32>(blockTable + 4, 1 / (32 * unit))
  for (let at = side; at < side + 4 * tries; at += 4) {
    const step: f32 = load<f32>(at, superTable) * load<f32>(blockTable + 4)
    const middle = middleSub(scale * load<f32>(at, inverseTable))
    const below = f32x4.splat(step * (middle - 1))
    const near = f32x4.splat(step * middle)
    const above = f32x4.splat(step * (middle + 1))
    let minima = f32x4.pmin(f32x4.splat(0), changes(below, productA, squareA))
    minima = f32x4.pmin(minima, changes(below, productB, squareB))
    minima = f32x4.pmin(minima, changes(below, productC, squareC))
    minima = f32x4.pmin(minima, changes(below, productD, squareD))
    let other = f32x4.pmin(changes(near, productA, squareA), changes(near, productB, squareB))
    other = f32x4.pmin(other, changes(near, productC, squareC))
    other = f32x4.pmin(other, changes(near, productD, squareD))
    minima = f32x4.pmin(minima, changes(above, productA, squareA))
    other = f32x4.pmin(other, changes(above, productB, squareB))
    minima = f32x4.pmin(minima, changes(above, productC, squareC))
    other = f32x4.pmin(other, changes(above, productD, squareD))
    minima = f32x4.pmin(minima, other)
    minima = f32x4.pmin(minima, i32x4.shuffle(minima, minima, 2, 3, 0, 1))
    minima = f32x4.pmin(minima, i32x4.shuffle(minima, minima, 1, 0, 3, 2))
    store<f32>(at, load<f32>(at, errorTable) + load<f32>(blockTable) * f32x4.extract_lane(minima, 0), errorTable)
  }
}

/** The best super-scale, from one that gives the largest block the sub-scale 63.4 (it gets 63) upwards. */
export function bestSuper(bits: i32, count: i32, side: usize): f32 {
  const subStep: f32 = bits === 6 ? 0.5 : 1
  let largest: f32 = 0
  for (let block = 0; block < count; block++) largest = max(largest, load<f32>(scaleTable + side + 4 * block))
  for (let index: usize = 0; index < tries; index++) {
    const half = storableF16((largest * 32) / (<f32>63.4 - <f32>index * subStep))
    store<f32>(superTable + side + 4 * index, f16Value(half))
    store<f32>(inverseTable + side + 4 * index, 32 / f16Value(half))
    store<f32>(errorTable + side + 4 * index, 0)
  }
  for (let block = 0; block < count; block++) {
    if (load<f32>(scaleTable + side + 4 * block) > 0) estimate(block, side)
  }
  let chosen: usize = 0
  for (let index: usize = 1; index < tries; index++) {
    if (load<f32>(errorTable + side + 4 * index) < load<f32>(errorTable + side + 4 * chosen)) chosen = index
  }
  return load<f32>(superTable + side + 4 * chosen)
}
