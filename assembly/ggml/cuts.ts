// What IQ1_S and IQ1_M share. The values of a sub-block are sorted; two cuts tell which of them get the digits 0, 1 and 2, for levels around -1,
// 0 and 1.
import { nearestVector } from './lattice'
import { cutOrder, cutValues, latticeBest, latticeIndexes, latticeWeights } from './memory-map'
import { nearestInt } from './rounding'

/** The best cuts so far. `shift` counts the combinations of up and down. */
let firstCut: i32 = -1
let secondCut: i32 = -1
let shift: i32 = 0
let scale: f32 = 0
let score: f32 = 0

export function cutScale(): f32 {
  return scale
}

export function cutShift(): i32 {
  return shift
}

export function cutScore(): f32 {
  return score
}

export function hasCuts(): bool {
  return firstCut >= 0
}

export function resetCuts(): void {
  firstCut = -1
  score = -f32.MAX_VALUE
}

export function tryCuts(first: i32, second: i32, shifted: i32, product: f32, square: f32): void {
  if (!(square > 0 && product * product > score * square)) return
  scale = product / square
  score = scale * product
  firstCut = first
  secondCut = second
  shift = shifted
}

/** Digits from the cuts, with a positive scale. `shifts` shifts mirror each other. */
export function takeCuts(count: i32, shifts: i32): void {
  const isMirrored = scale < 0
  for (let i = 0; i < count; i++) {
    const digit = i < firstCut ? 0 : i < secondCut ? 1 : 2
    store<u8>(latticeBest + <usize>load<u8>(cutOrder + i), <u8>(isMirrored ? 2 - digit : digit))
  }
  if (!isMirrored) return
  scale = -scale
  shift = shifts - 1 - shift
}

/** The positions of `count` values in ascending order, and these values; equal ones stay in place. */
export function sortValues(values: usize, count: usize): void {
  for (let i: usize = 0; i < count; i++) {
    const value = load<f32>(values + 4 * i)
    let at = i
    for (; at > 0 && load<f32>(cutValues + 4 * at - 4) > value; at--) {
      store<f32>(cutValues + 4 * at, load<f32>(cutValues + 4 * at - 4))
      store<u8>(cutOrder + at, load<u8>(cutOrder + at - 1))
    }
    store<f32>(cutValues + 4 * at, value)
    store<u8>(cutOrder + at, <u8>i)
  }
}

/**
 * Finds the vectors of the digits at `latticeBest`, and the scale again where digits had to change. The first half of the values is moved by
 * `lowShift`, the second by `highShift`.
 */
export function findVectors(values: usize, count: usize, lowShift: f32, highShift: f32): void {
  let isChanged = false
  for (let i: usize = 0; i < count; i += 8) {
    const own: f32 = i < count / 2 ? lowShift : highShift
    const before = load<u64>(latticeBest + i)
    const index = nearestVector(latticeBest + i, values + 4 * i, latticeWeights + 4 * i, scale, own)
    store<u16>(latticeIndexes + i / 4, <u16>index)
    if (load<u64>(latticeBest + i) !== before) isChanged = true
  }
  if (!isChanged) return
  let product: f32 = 0
  let square: f32 = 0
  for (let i: usize = 0; i < count; i++) {
    const level: f32 = <f32>(<i32>load<u8>(latticeBest + i) - 1) + (i < count / 2 ? lowShift : highShift)
    const weighted: f32 = load<f32>(latticeWeights + 4 * i) * level
    product += weighted * load<f32>(values + 4 * i)
    square += weighted * level
  }
  if (product > 0 && square > 0) scale = product / square
}

/** Twice the mean square of a block. */
export function meanSquares(source: usize): f32 {
  let squares: f32 = 0
  for (let i: usize = 0; i < 1024; i += 4) squares += load<f32>(source + i) * load<f32>(source + i)
  return <f32>((2 * <f64>squares) / 256)
}

export function weighCuts(source: usize, count: usize, importance: usize, variance: f32): void {
  const added = f32x4.splat(variance)
  for (let at: usize = 0; at < 4 * count; at += 16) {
    const four = v128.load(source + at)
    const squares = f32x4.mul(four, four)
    const weights = importance ? f32x4.mul(v128.load(importance + at), f32x4.sqrt(f32x4.add(added, squares))) : squares
    v128.store(latticeWeights + at, weights)
  }
}

export function maxMagnitude(source: usize, count: usize): f32 {
  let max = f32x4.splat(0)
  for (let at: usize = 0; at < 4 * count; at += 16) max = f32x4.pmax(max, f32x4.abs(v128.load(source + at)))
  const two = f32x4.pmax(max, i32x4.shuffle(max, max, 2, 3, 0, 1))
  const a = f32x4.extract_lane(two, 0)
  const b = f32x4.extract_lane(two, 1)
  return a > b ? a : b
}

/** A scale as one of eight odd multiples of a step. */
export function stepsOf(value: f32, factor: f32): i32 {
  const steps = nearestInt(<f32>0.5 * (factor * value - 1))
  return steps < 0 ? 0 : steps > 7 ? 7 : steps
}
