// The scales that give the least squared error. For a given scale the best codes are the nearest ones; for given codes c the best scale is
// Σcx / Σcc, and it takes (Σcx)² / Σcc off the error. The error as a function of the scale has many valleys, so several scales are tried
// and the deepest valley is taken.
import { halfValue, nearestHalf, smallestHalf, truncatedHalf } from './half'
import { blockMagnitude, clampLanes, largestCode, roundingBias, sumLanes } from './lanes'
import { subScaleFor } from './reference'

const largestHalf: f32 = 65504

let errorA: f32 = 0
let errorB: f32 = 0
let errorC: f32 = 0

let products: f32 = 0
let squares: f32 = 0

/** Σcx and Σcc for the codes that `inverse` gives, in `products` and `squares`. */
function sumUp(values: usize, inverse: f32, most: f32): void {
  const bias = f32x4.splat(roundingBias)
  const low = f32x4.splat(-most)
  const high = f32x4.splat(most)
  const factor = f32x4.splat(inverse)
  let product = f32x4.splat(0)
  let square = f32x4.splat(0)
  for (let at: usize = 0; at < 128; at += 64) {
    const x = v128.load(values + at)
    const c = f32x4.sub(f32x4.add(clampLanes(f32x4.mul(x, factor), low, high), bias), bias)
    product = f32x4.add(product, f32x4.mul(c, x))
    square = f32x4.add(square, f32x4.mul(c, c))
    const y = v128.load(values + at, 16)
    const d = f32x4.sub(f32x4.add(clampLanes(f32x4.mul(y, factor), low, high), bias), bias)
    product = f32x4.add(product, f32x4.mul(d, y))
    square = f32x4.add(square, f32x4.mul(d, d))
    const z = v128.load(values + at, 32)
    const e = f32x4.sub(f32x4.add(clampLanes(f32x4.mul(z, factor), low, high), bias), bias)
    product = f32x4.add(product, f32x4.mul(e, z))
    square = f32x4.add(square, f32x4.mul(e, e))
    const w = v128.load(values + at, 48)
    const f = f32x4.sub(f32x4.add(clampLanes(f32x4.mul(w, factor), low, high), bias), bias)
    product = f32x4.add(product, f32x4.mul(f, w))
    square = f32x4.add(square, f32x4.mul(f, f))
  }
  products = sumLanes(product)
  squares = sumLanes(square)
}

/** The same where no code can be out of range. */
function sumUpFree(values: usize, inverse: f32): void {
  const bias = f32x4.splat(roundingBias)
  const factor = f32x4.splat(inverse)
  let product = f32x4.splat(0)
  let square = f32x4.splat(0)
  for (let at: usize = 0; at < 128; at += 64) {
    const x = v128.load(values + at)
    const c = f32x4.sub(f32x4.add(f32x4.mul(x, factor), bias), bias)
    product = f32x4.add(product, f32x4.mul(c, x))
    square = f32x4.add(square, f32x4.mul(c, c))
    const y = v128.load(values + at, 16)
    const d = f32x4.sub(f32x4.add(f32x4.mul(y, factor), bias), bias)
    product = f32x4.add(product, f32x4.mul(d, y))
    square = f32x4.add(square, f32x4.mul(d, d))
    const z = v128.load(values + at, 32)
    const e = f32x4.sub(f32x4.add(f32x4.mul(z, factor), bias), bias)
    product = f32x4.add(product, f32x4.mul(e, z))
    square = f32x4.add(square, f32x4.mul(e, e))
    const w = v128.load(values + at, 48)
    const f = f32x4.sub(f32x4.add(f32x4.mul(w, factor), bias), bias)
    product = f32x4.add(product, f32x4.mul(f, w))
    square = f32x4.add(square, f32x4.mul(f, f))
  }
  products = sumLanes(product)
  squares = sumLanes(square)
}

/** The best scale of a block, not yet rounded. The starts are `first`, `first + step`, … codes for the largest magnitude. */
function bestScale(values: usize, magnitude: f32, most: f32, starts: i32, first: f32, step: f32): f32 {
  let best: f32 = 0
  let gain: f32 = -1
  for (let start = 0; start <= starts; start++) {
    // After all starts, once more from the best scale so far.
    const codes: f32 = first + <f32>start * step
    if (start < starts && codes < most + <f32>0.4) sumUpFree(values, codes / magnitude)
    else sumUp(values, start < starts ? codes / magnitude : 1 / best, most)
    const reached: f32 = (products * products) / squares
    const scale: f32 = products / squares
    const isBetter = reached > gain
    best = select<f32>(scale, best, isBetter)
    gain = select<f32>(reached, gain, isBetter)
  }
  return best
}

/** The squared error of a block under three scales, in `errorA` to `errorC`. */
function errorsOf(values: usize, a: f32, b: f32, c: f32, most: f32): void {
  const bias = f32x4.splat(roundingBias)
  const low = f32x4.splat(-most)
  const high = f32x4.splat(most)
  const inverseA = f32x4.splat(1 / a)
  const inverseB = f32x4.splat(1 / b)
  const inverseC = f32x4.splat(1 / c)
  let sumA = f32x4.splat(0)
  let sumB = f32x4.splat(0)
  let sumC = f32x4.splat(0)
  for (let at: usize = 0; at < 128; at += 16) {
    const x = v128.load(values + at)
    const scaledA = f32x4.mul(x, inverseA)
    const scaledB = f32x4.mul(x, inverseB)
    const scaledC = f32x4.mul(x, inverseC)
    const restA = f32x4.sub(scaledA, f32x4.sub(f32x4.add(clampLanes(scaledA, low, high), bias), bias))
    const restB = f32x4.sub(scaledB, f32x4.sub(f32x4.add(clampLanes(scaledB, low, high), bias), bias))
    const restC = f32x4.sub(scaledC, f32x4.sub(f32x4.add(clampLanes(scaledC, low, high), bias), bias))
    sumA = f32x4.add(sumA, f32x4.mul(restA, restA))
    sumB = f32x4.add(sumB, f32x4.mul(restB, restB))
    sumC = f32x4.add(sumC, f32x4.mul(restC, restC))
  }
  errorA = sumLanes(sumA) * (a * a)
  errorB = sumLanes(sumB) * (b * b)
  errorC = sumLanes(sumC) * (c * c)
}

function squareSum(values: usize): f32 {
  let sum = f32x4.splat(0)
  for (let at: usize = 0; at < 128; at += 16) {
    const x = v128.load(values + at)
    sum = f32x4.add(sum, f32x4.mul(x, x))
  }
  return sumLanes(sum)
}

/** One f16 scale per block. Returns the first block whose scale f16 cannot hold, or -1. */
export function searchBlocks(
  bits: i32,
  values: usize,
  blocks: i32,
  starts: i32,
  first: f32,
  step: f32,
  scales: usize,
): i32 {
  const most = largestCode(bits)
  for (let block = 0; block < blocks; block++) {
    const magnitude = blockMagnitude(values)
    let code: u32 = 0
    // Half of the smallest scale and less always rounds to code 0.
    if (magnitude > smallestHalf / 2) {
      const plain: f32 = magnitude / most
      if (plain > 2 * largestHalf) return block
      const wanted = bestScale(values, magnitude, most, starts, first, step)
      code = nearestHalf(max(wanted, smallestHalf))
      if (code > 0x7bff) return block
      const scale = halfValue(code)
      const cut = plain < smallestHalf || plain >= 65536 ? code : truncatedHalf(plain)
      errorsOf(values, scale, halfValue(cut), scale, most)
      const error = min(errorA, errorB)
      if (errorB < errorA) code = cut
      if (wanted < smallestHalf && squareSum(values) <= error) code = 0
    }
    store<u16>(scales, <u16>code)
    values += 128
    scales += 2
  }
  return -1
}

// While a super-block is searched, its blocks' scales, square sums and sub-scales are kept here.
const scaleTable: usize = 64
const squareTable: usize = 96
const subTable: usize = 128
const bestSubTable: usize = 160

function scaleWith(superScale: f32, sub: f32): f32 {
  return superScale * (sub / 32)
}

/** The error of a super-block when every block takes the best sub-scale next to the wanted one. The sub-scales go to `subTable`. */
function errorWith(values: usize, count: i32, superScale: f32, wanted: usize, isScale: bool, most: f32): f32 {
  let total: f32 = 0
  const unit: f32 = 32 / superScale
  for (let block = 0; block < count; block++) {
    const at = <usize>block * 4
    const square = load<f32>(squareTable + at)
    const target = load<f32>(wanted + at)
    let sub: f32 = 0
    let error = square
    if (load<f32>(scaleTable + at) > 0) {
      const near: f32 = isScale ? min(target * unit, 62) + roundingBias - roundingBias : min(target, 62)
      const middle = max(near, 1)
      errorsOf(
        values + 32 * at,
        scaleWith(superScale, max(middle - 1, 1)),
        scaleWith(superScale, middle),
        scaleWith(superScale, middle + 1),
        most,
      )
      sub = middle
      const below = middle == 1 ? square : errorA
      error = errorB
      if (below < error) {
        sub = middle - 1
        error = below
      }
      if (errorC < error) {
        sub = middle + 1
        error = errorC
      }
    }
    store<f32>(subTable + at, sub)
    total += error
  }
  return total
}

/** The super-scale that suits the codes of the best choice so far; 0 when all of them are zeros. */
function refinedSuper(values: usize, count: i32, superScale: f32, most: f32): f32 {
  let productSum: f32 = 0
  let squareSum: f32 = 0
  for (let block = 0; block < count; block++) {
    const sub = load<f32>(bestSubTable + 4 * block)
    if (sub == 0) continue
    sumUp(values + 128 * block, 1 / scaleWith(superScale, sub), most)
    const weight: f32 = sub / 32
    productSum += weight * products
    squareSum += weight * weight * squares
  }
  return squareSum == 0 ? <f32>0 : productSum / squareSum
}

/** The error under the reference's own sub-scales, which go to `subTable`. */
function errorOfReference(values: usize, count: i32, largest: f32, superScale: f32, most: f32): f32 {
  let total: f32 = 0
  for (let block = 0; block < count; block++) {
    const sub = <f32>subScaleFor(blockMagnitude(values + 128 * block) / most, largest)
    let error = load<f32>(squareTable + 4 * block)
    if (sub > 0) {
      const scale = scaleWith(superScale, sub)
      errorsOf(values + 128 * block, scale, scale, scale, most)
      error = errorA
    }
    store<f32>(subTable + 4 * block, sub)
    total += error
  }
  return total
}

function storableHalf(value: f32): u32 {
  return nearestHalf(min(max(value, smallestHalf), largestHalf))
}

/**
 * One f16 scale per super-block and a sub-scale per block. `supersTried` super-scales are tried, from one that gives the largest block the
 * sub-scale 63.4 (it gets 63) down in steps of `subStep`. Returns the first block that is too large, or -1.
 */
export function searchSupers(
  bits: i32,
  values: usize,
  rows: i32,
  perRow: i32,
  starts: i32,
  first: f32,
  step: f32,
  supersTried: i32,
  subStep: f32,
  supers: usize,
  subScales: usize,
): i32 {
  const most = largestCode(bits)
  for (let row = 0; row < rows; row++) {
    for (let at = 0; at < perRow; at += 8) {
      const count = min(8, perRow - at)
      let largest: f32 = 0
      let plain: f32 = 0
      for (let block = 0; block < count; block++) {
        const from = values + 128 * block
        const magnitude = blockMagnitude(from)
        if (magnitude / most > 4 * largestHalf) return row * perRow + at + block
        plain = max(plain, magnitude / most)
        // Half of the smallest scale that a super-block can give (1/32 of the smallest f16) and less always rounds to code 0.
        const isZero = magnitude <= smallestHalf / 64
        const scale = isZero ? <f32>0 : bestScale(from, magnitude, most, starts, first, step)
        if (scale > largestHalf * (<f32>63 / 32)) return row * perRow + at + block
        store<f32>(scaleTable + 4 * block, scale)
        store<f32>(squareTable + 4 * block, squareSum(from))
        largest = max(largest, scale)
      }
      let code: u32 = 0
      if (largest > 0) {
        let least: f32 = Infinity
        for (let tried = 0; tried < supersTried; tried++) {
          const half = storableHalf((largest * 32) / (<f32>63.4 - <f32>tried * subStep))
          const error = errorWith(values, count, halfValue(half), scaleTable, true, most)
          if (error < least) {
            least = error
            code = half
            memory.copy(bestSubTable, subTable, 32)
          }
        }
        const refined = refinedSuper(values, count, halfValue(code), most)
        if (refined > 0) {
          const half = storableHalf(refined)
          const error = errorWith(values, count, halfValue(half), bestSubTable, false, most)
          if (error < least) {
            least = error
            code = half
            memory.copy(bestSubTable, subTable, 32)
          }
        }
        const cut = truncatedHalf(plain)
        if (cut > 0 && cut < 0x7c00) {
          if (errorOfReference(values, count, plain, halfValue(cut), most) < least) {
            code = cut
            memory.copy(bestSubTable, subTable, 32)
          }
        }
      }
      let used: i32 = 0
      for (let block = 0; block < count; block++) {
        const sub = code == 0 ? 0 : <i32>load<f32>(bestSubTable + 4 * block)
        store<u8>(subScales + block, <u8>sub)
        used |= sub
      }
      store<u16>(supers, <u16>(used == 0 ? 0 : code))
      supers += 2
      subScales += count
      values += 128 * count
    }
  }
  return -1
}
