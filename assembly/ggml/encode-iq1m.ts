// IQ1_M: as IQ1_S, with a scale for every 16 values, and every eight of them moved up or down on their own. Sums depend on the order of
// additions, so those of the last digit are computed for every pair of cuts; the four combinations of shifts run side by side.
import {
  cutScale,
  cutScore,
  cutShift,
  findVectors,
  hasCuts,
  maxMagnitude,
  meanSquares,
  resetCuts,
  sortValues,
  stepsOf,
  takeCuts,
  tryCuts,
  weighCuts,
} from './cuts'
import { putF16 } from './lanes'
import { useLattice } from './lattice'
import {
  cutDigits,
  cutOrder,
  cutShifts,
  cutSquareTerms,
  cutTerms,
  cutTrials,
  cutValues,
  latticeBest,
  latticeIndexes,
  latticeScales,
  latticeWeights,
} from './memory-map'

export function encodeIQ1_M(source: usize, target: usize, blocks: i32, importance: usize, tables: usize): void {
  useLattice(tables)
  for (; blocks > 0; blocks--) {
    memory.fill(target, 0, 56)
    const variance = meanSquares(source)
    const max = putVectors(source, target, importance, variance)
    if (max > 0) putScales(source, target, importance, variance, max / 15)
    source += 1024
    if (importance) importance += 1024
    target += 56
  }
}

/** Returns the largest scale. */
function putVectors(source: usize, target: usize, importance: usize, variance: f32): f32 {
  let max: f32 = 0
  memory.fill(cutDigits, 0, 256)
  for (let sub: usize = 0; sub < 16; sub++) {
    const values = source + 64 * sub
    store<f32>(latticeScales + 4 * sub, 0)
    store<u8>(cutShifts + sub, 0)
    weighCuts(values, 16, importance ? importance + 64 * sub : 0, variance)
    if (maxMagnitude(values, 16) < <f32>1e-7 || !cutInThree(values)) continue
    takeCuts(16, 4)
    findVectors(values, 16, lowShift(cutShift()), highShift(cutShift()))
    const first = <u32>load<u16>(latticeIndexes)
    const second = <u32>load<u16>(latticeIndexes, 2)
    store<u16>(target + 2 * sub, <u16>((first & 255) | (second << 8)))
    store<u8>(target + 32 + sub, <u8>((first >> 8) | ((second >> 8) << 4)))
    memory.copy(cutDigits + 16 * sub, latticeBest, 16)
    store<f32>(latticeScales + 4 * sub, cutScale())
    store<u8>(cutShifts + sub, <u8>cutShift())
    if (cutScale() > max) max = cutScale()
  }
  return max
}

/** How far the first eight values are moved. */
function lowShift(shift: i32): f32 {
  return shift < 2 ? 0.125 : -0.125
}

/** The same for the second eight. */
function highShift(shift: i32): f32 {
  return shift & 1 ? -0.125 : 0.125
}

/** False if no pair of cuts fits. */
function cutInThree(values: usize): bool {
  sortValues(values, 16)
  for (let place: usize = 0; place < 16; place++) putTerms(place)
  resetCuts()
  let startProduct = f32x4.splat(0)
  let startSquare = f32x4.splat(0)
  for (let first: usize = 0; first <= 16; first++) {
    if (first > 0) {
      startProduct = f32x4.add(startProduct, v128.load(cutTerms + 48 * first - 48))
      startSquare = f32x4.add(startSquare, v128.load(cutSquareTerms + 48 * first - 48))
    }
    let product = startProduct
    let square = startSquare
    for (let second = first; second <= 16; second++) {
      if (second > first) {
        product = f32x4.add(product, v128.load(cutTerms + 48 * second - 32))
        square = f32x4.add(square, v128.load(cutSquareTerms + 48 * second - 32))
      }
      let allProduct = product
      let allSquare = square
      for (let place = second; place < 16; place++) {
        allProduct = f32x4.add(allProduct, v128.load(cutTerms + 48 * place, 32))
        allSquare = f32x4.add(allSquare, v128.load(cutSquareTerms + 48 * place, 32))
      }
      tryShifts(<i32>first, <i32>second, allProduct, allSquare)
    }
  }
  return hasCuts()
}

/** What the value at a place of the sorted order adds, for each of three digits, with each of four shifts. */
function putTerms(place: usize): void {
  const i = <usize>load<u8>(cutOrder + place)
  const value = v128.load32_splat(cutValues + 4 * place)
  const weight = v128.load32_splat(latticeWeights + 4 * i)
  const shifts = i < 8 ? f32x4(0.125, 0.125, -0.125, -0.125) : f32x4(0.125, -0.125, 0.125, -0.125)
  for (let digit: usize = 0; digit < 3; digit++) {
    const level = f32x4.add(f32x4.splat(<f32>(<i32>digit - 1)), shifts)
    const weighted = f32x4.mul(weight, level)
    v128.store(cutTerms + 48 * place + 16 * digit, f32x4.mul(weighted, value))
    v128.store(cutSquareTerms + 48 * place + 16 * digit, f32x4.mul(weighted, level))
  }
}

/** Only where a shift is better than the best so far, all four are looked at in turn. */
function tryShifts(first: i32, second: i32, product: v128, square: v128): void {
  const isFound = f32x4.gt(square, f32x4.splat(0))
  const isBetter = f32x4.gt(f32x4.mul(product, product), f32x4.mul(f32x4.splat(cutScore()), square))
  if (!v128.any_true(v128.and(isFound, isBetter))) return
  v128.store(cutTrials, product)
  v128.store(cutTrials, square, 16)
  for (let shift = 0; shift < 4; shift++) {
    const at = cutTrials + 4 * <usize>shift
    tryCuts(first, second, shift, load<f32>(at), load<f32>(at, 16))
  }
}

/** Rounds the scales, then fits the step once more to everything that is stored. */
function putScales(source: usize, target: usize, importance: usize, variance: f32, step: f32): void {
  let product: f32 = 0
  let square: f32 = 0
  for (let sub: usize = 0; sub < 16; sub++) {
    const steps = stepsOf(load<f32>(latticeScales + 4 * sub), 1 / step)
    const word = target + 48 + 2 * (sub >> 2)
    store<u16>(word, load<u16>(word) | <u16>(steps << (3 * (<i32>sub & 3))))
    const shift = <i32>load<u8>(cutShifts + sub)
    const bits = (shift & 1 ? 0x80 : 0) | (shift & 2 ? 0x08 : 0)
    store<u8>(target + 32 + sub, load<u8>(target + 32 + sub) | <u8>bits)
    weighCuts(source + 64 * sub, 16, importance ? importance + 64 * sub : 0, variance)
    for (let i: usize = 0; i < 16; i++) {
      const own: f32 = i < 8 ? lowShift(shift) : highShift(shift)
      const level: f32 = (<f32>(<i32>load<u8>(cutDigits + 16 * sub + i) - 1) + own) * <f32>((steps << 1) + 1)
      const weighted: f32 = load<f32>(latticeWeights + 4 * i) * level
      product += weighted * load<f32>(source + 64 * sub + 4 * i)
      square += weighted * level
    }
  }
  const fitted: f32 = square > 0 ? product / square : step
  // Four bits of the f16 at the top of every word.
  putF16(cutTrials, fitted * 1.1125)
  const code = <u32>load<u16>(cutTrials)
  for (let i: u32 = 0; i < 4; i++) {
    const word = target + 48 + 2 * <usize>i
    store<u16>(word, load<u16>(word) | <u16>(((code >> (4 * i)) & 15) << 12))
  }
}
