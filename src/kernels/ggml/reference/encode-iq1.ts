// IQ1_S and IQ1_M: vectors of -1, 0 and 1, all of a group moved up or down by an eighth. In sorted order, two cuts tell which values get which digit;
// all pairs of cuts are tried with both shifts. Vectors that the lattice does not have are then replaced by the nearest ones.
import { blockBytes, type EncodeRow, fieldOffset, layouts } from '../layouts.js'
import { putF16 } from '../plain/f16-scales.js'
import { nearestWithin, sumOfSquares, weighBlock, weighBySquares } from './arithmetic.js'
import { nearestVector } from './grid.js'
import { grid1 } from './grids.js'

const { fround } = Math

/** What the digits stand for when the group is moved up, and down. */
const up = Float32Array.of(-0.875, 0.125, 1.125)
const down = Float32Array.of(-1.125, -0.125, 0.875)

const weights = new Float32Array(32)
const order = new Uint8Array(32)
const digits = new Uint8Array(32)
const indexes = new Uint16Array(4)
const scales = new Float32Array(16)
const shifts = new Uint8Array(16)
const lowest = -3.4028234663852886e38

/** What the cuts that fit best are, and how: `shift` counts the combinations of up and down. */
const cuts = { first: -1, second: -1, shift: 0, scale: 0, score: 0 }

/** The positions of `count` values in ascending order; equal ones stay in place. */
function sortValues(row: Float32Array, from: number, count: number): void {
  for (let i = 0; i < count; i++) {
    let at = i
    for (; at > 0 && row[from + order[at - 1]!]! > row[from + i]!; at--) order[at] = order[at - 1]!
    order[at] = i
  }
}

function tryCuts(first: number, second: number, shift: number, product: number, square: number): void {
  if (!(square > 0 && fround(product * product) > fround(cuts.score * square))) return
  cuts.scale = fround(product / square)
  cuts.score = fround(cuts.scale * product)
  cuts.first = first
  cuts.second = second
  cuts.shift = shift
}

function resetCuts(): void {
  cuts.first = -1
  cuts.score = lowest
}

/** Digits from the cuts, with a positive scale. `shiftCount` shifts mirror each other. */
function takeCuts(count: number, shiftCount: number): void {
  for (let i = 0; i < count; i++) digits[order[i]!] = i < cuts.first ? 0 : i < cuts.second ? 1 : 2
  if (!(cuts.scale < 0)) return
  for (let i = 0; i < count; i++) digits[i] = 2 - digits[i]!
  cuts.scale = -cuts.scale
  cuts.shift = shiftCount - 1 - cuts.shift
}

/** Finds the vectors, and the scale again where digits had to change. `levelsOf` gives the levels of the k-th vector. */
function findVectors(row: Float32Array, from: number, count: number, levelsOf: (k: number) => Float32Array): void {
  const grid = grid1()
  let isChanged = false
  for (let k = 0; k < count / 8; k++) {
    const before = digits.slice(8 * k, 8 * k + 8)
    indexes[k] = nearestVector(grid, digits, 8 * k, row, from + 8 * k, weights, 8 * k, cuts.scale, levelsOf(k))
    isChanged ||= before.some((digit, i) => digit !== digits[8 * k + i])
  }
  if (!isChanged) return
  let product = 0
  let square = 0
  for (let i = 0; i < count; i++) {
    const level = levelsOf(i >>> 3)[digits[i]!]!
    const weighted = fround(weights[i]! * level)
    product = fround(product + fround(weighted * row[from + i]!))
    square = fround(square + fround(weighted * level))
  }
  if (product > 0 && square > 0) cuts.scale = fround(product / square)
}

const maxMagnitude = (row: Float32Array, from: number, count: number): number => {
  let max = 0
  for (let i = from; i < from + count; i++) max = Math.max(max, Math.abs(row[i]!))
  return max
}

const sumsX = new Float32Array(33)
const sumsW = new Float32Array(33)

/** Sums up to every place in sorted order make each pair of cuts cheap. */
function cutInThree(row: Float32Array, from: number): void {
  sortValues(row, from, 32)
  for (let i = 0; i < 32; i++) {
    const weight = weights[order[i]!]!
    sumsX[i + 1] = sumsX[i]! + fround(weight * row[from + order[i]!]!)
    sumsW[i + 1] = sumsW[i]! + weight
  }
  resetCuts()
  for (let first = 0; first <= 32; first++) {
    for (let second = first; second <= 32; second++) {
      tryCuts(first, second, 0, productOf(up, first, second), squareOf(up, first, second))
      tryCuts(first, second, 1, productOf(down, first, second), squareOf(down, first, second))
    }
  }
}

function productOf(levels: Float32Array, first: number, second: number): number {
  const low = fround(sumsX[first]! * levels[0]!)
  const middle = fround(fround(sumsX[second]! - sumsX[first]!) * levels[1]!)
  const high = fround(fround(sumsX[32]! - sumsX[second]!) * levels[2]!)
  return fround(fround(low + middle) + high)
}

function squareOf(levels: Float32Array, first: number, second: number): number {
  const low = fround(fround(sumsW[first]! * levels[0]!) * levels[0]!)
  const middle = fround(fround(fround(sumsW[second]! - sumsW[first]!) * levels[1]!) * levels[1]!)
  const high = fround(fround(fround(sumsW[32]! - sumsW[second]!) * levels[2]!) * levels[2]!)
  return fround(fround(low + middle) + high)
}

const sSize = blockBytes(layouts.iq1_s)
const sCodes = fieldOffset(layouts.iq1_s, 'qs')
const sHigh = fieldOffset(layouts.iq1_s, 'qh')

export const referenceIQ1_S: EncodeRow = (row, target, importance) => {
  for (let from = 0, at = 0; from < row.length; from += 256, at += sSize) {
    target.fill(0, at, at + sSize)
    const variance = fround((2 * sumOfSquares(row, from, 256)) / 256)
    let max = 0
    for (let sub = 0; sub < 8; sub++) {
      const first = from + 32 * sub
      scales[sub] = 0
      shifts[sub] = 0
      weighBlock(row, first, 32, importance!, variance, weights)
      if (maxMagnitude(row, first, 32) < fround(1e-12)) continue
      cutInThree(row, first)
      if (cuts.first < 0) continue
      takeCuts(32, 2)
      const levels = cuts.shift === 0 ? up : down
      findVectors(row, first, 32, () => levels)
      let high = 0
      for (let k = 0; k < 4; k++) {
        target[at + sCodes + 4 * sub + k] = indexes[k]!
        high |= (indexes[k]! >>> 8) << (3 * k)
      }
      target[at + sHigh + 2 * sub] = high
      target[at + sHigh + 2 * sub + 1] = high >>> 8
      scales[sub] = cuts.scale
      shifts[sub] = cuts.shift
      if (cuts.scale > max) max = cuts.scale
    }
    if (max === 0) continue
    const step = fround(max / 15)
    putF16(target, at, fround(step * 1.125))
    const factor = fround(1 / step)
    for (let sub = 0; sub < 8; sub++) {
      target[at + sHigh + 2 * sub + 1]! |= (stepsOf(scales[sub]!, factor) | (shifts[sub]! << 3)) << 4
    }
  }
}

const stepsOf = (scale: number, factor: number): number =>
  nearestWithin(fround(0.5 * fround(fround(factor * scale) - 1)), 0, 7)

/** Of IQ1_M: whether the first and the second eight values are moved up, for each of four shifts. */
const levelsOfM = (shift: number, k: number): Float32Array => ((k === 0 ? shift < 2 : shift % 2 === 0) ? up : down)

const products = new Float32Array(4)
const squares = new Float32Array(4)
const tailProducts = new Float32Array(4)
const tailSquares = new Float32Array(4)
const startProducts = new Float32Array(4)
const startSquares = new Float32Array(4)

function addValue(
  row: Float32Array,
  from: number,
  place: number,
  digit: number,
  x: Float32Array,
  w: Float32Array,
): void {
  const i = order[place]!
  for (let shift = 0; shift < 4; shift++) {
    const level = levelsOfM(shift, i >>> 3)[digit]!
    const weighted = fround(weights[i]! * level)
    x[shift]! += fround(weighted * row[from + i]!)
    w[shift]! += fround(weighted * level)
  }
}

/** The sums depend on the order of additions, so those of the last digit are computed for every pair of cuts. */
function cutInThreeM(row: Float32Array, from: number): void {
  sortValues(row, from, 16)
  resetCuts()
  startProducts.fill(0)
  startSquares.fill(0)
  for (let first = 0; first <= 16; first++) {
    if (first > 0) addValue(row, from, first - 1, 0, startProducts, startSquares)
    products.set(startProducts)
    squares.set(startSquares)
    for (let second = first; second <= 16; second++) {
      if (second > first) addValue(row, from, second - 1, 1, products, squares)
      tailProducts.set(products)
      tailSquares.set(squares)
      for (let place = second; place < 16; place++) addValue(row, from, place, 2, tailProducts, tailSquares)
      for (let shift = 0; shift < 4; shift++) tryCuts(first, second, shift, tailProducts[shift]!, tailSquares[shift]!)
    }
  }
}

const mSize = blockBytes(layouts.iq1_m)
const mHigh = fieldOffset(layouts.iq1_m, 'qh')
const mScales = fieldOffset(layouts.iq1_m, 'scales')
/** The bits of a byte of `qh` that move the first and the second eight values down. */
const shiftBits = [0x00, 0x80, 0x08, 0x88]
const half = new Uint8Array(2)
const blockDigits = new Uint8Array(256)

export const referenceIQ1_M: EncodeRow = (row, target, importance) => {
  for (let from = 0, at = 0; from < row.length; from += 256, at += mSize) {
    target.fill(0, at, at + mSize)
    blockDigits.fill(0)
    const variance = fround((2 * sumOfSquares(row, from, 256)) / 256)
    let max = 0
    for (let sub = 0; sub < 16; sub++) {
      const first = from + 16 * sub
      scales[sub] = 0
      shifts[sub] = 0
      weighM(row, first, importance, variance)
      if (maxMagnitude(row, first, 16) < fround(1e-7)) continue
      cutInThreeM(row, first)
      if (cuts.first < 0) continue
      takeCuts(16, 4)
      findVectors(row, first, 16, (k) => levelsOfM(cuts.shift, k))
      target[at + 2 * sub] = indexes[0]!
      target[at + 2 * sub + 1] = indexes[1]!
      target[at + mHigh + sub] = (indexes[0]! >>> 8) | ((indexes[1]! >>> 8) << 4)
      blockDigits.set(digits.subarray(0, 16), 16 * sub)
      scales[sub] = cuts.scale
      shifts[sub] = cuts.shift
      if (cuts.scale > max) max = cuts.scale
    }
    if (max > 0) putScalesM(row, from, importance, variance, fround(max / 15), target, at)
  }
}

function weighM(row: Float32Array, from: number, importance: Float32Array | undefined, variance: number): void {
  if (importance) weighBlock(row, from, 16, importance, variance, weights)
  else weighBySquares(row, from, 16, weights)
}

/** Rounds the scales, then fits the step once more to everything that is stored. */
function putScalesM(
  row: Float32Array,
  from: number,
  importance: Float32Array | undefined,
  variance: number,
  step: number,
  target: Uint8Array,
  at: number,
): void {
  const factor = fround(1 / step)
  let product = 0
  let square = 0
  for (let sub = 0; sub < 16; sub++) {
    const steps = stepsOf(scales[sub]!, factor)
    const bits = steps << (3 * (sub & 3))
    target[at + mScales + 2 * (sub >>> 2)]! |= bits
    target[at + mScales + 2 * (sub >>> 2) + 1]! |= bits >>> 8
    target[at + mHigh + sub]! |= shiftBits[shifts[sub]!]!
    weighM(row, from + 16 * sub, importance, variance)
    for (let i = 0; i < 16; i++) {
      const level = fround(levelsOfM(shifts[sub]!, i >>> 3)[blockDigits[16 * sub + i]!]! * (2 * steps + 1))
      const weighted = fround(weights[i]! * level)
      product = fround(product + fround(weighted * row[from + 16 * sub + i]!))
      square = fround(square + fround(weighted * level))
    }
  }
  const fitted = square > 0 ? fround(product / square) : step
  putF16(half, 0, fround(fitted * fround(1.1125)))
  // Four bits of the f16 at the top of every word.
  const code = half[0]! | (half[1]! << 8)
  for (let i = 0; i < 4; i++) target[at + mScales + 2 * i + 1]! |= ((code >>> (4 * i)) & 15) << 4
}
