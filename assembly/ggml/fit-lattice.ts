// One sub-block of an IQ2 or IQ3 type: magnitudes become vectors of a lattice under a common scale. Scales around the obvious one are tried;
// vectors that came about by a detour through neighbours are chosen again under the best scale. Sums have to run from the first value to the
// last, so four trials run side by side.
import { indexOf, nearestVector } from './lattice'
import {
  latticeBest,
  latticeDetours,
  latticeProducts,
  latticeRoots,
  latticeTrials,
  latticeValues,
  latticeWeights,
  trialProducts,
  trialSquares,
} from './memory-map'

/** Which vectors are chosen again under the best scale. */
export const againOff = 0
export const againAllIfOff = 1
export const againAll = 2

/** The highest digit. Digit n stands for 2n + 1. */
let limit: i32 = 0
/** Scales are tried from -tries to tries steps around the obvious one. */
let tries: i32 = 0
let step: f32 = 0
let again: i32 = 0
let count: usize = 0
let width: usize = 0

export function setFit(values: usize, components: usize, highest: i32, steps: i32, size: f32, chosenAgain: i32): void {
  count = values
  width = components
  limit = highest
  tries = steps
  step = size
  again = chosenAgain
}

/**
 * Fits the values at `latticeValues` and leaves their digits at `latticeBest`. Returns the scale, which is negative only if all is lost to
 * rounding. `top` is what the highest level stands for at first, `first` the scale that stays if no trial is better.
 */
export function fitLattice(top: f32, first: f32): f32 {
  const trials = 2 * tries + 1
  for (let trial = 0; trial < trials; trial++) {
    tryFactor(trial, (<f32>((limit << 1) + 1) + <f32>(trial - tries) * step) / top)
  }
  for (let at: usize = 0; at < count; at += 4) {
    v128.store(
      latticeProducts + 4 * at,
      f32x4.mul(v128.load(latticeWeights + 4 * at), v128.load(latticeValues + 4 * at)),
    )
  }
  for (let trial = 0; trial < trials; trial += 4) sumTrials(trial)
  return finish(bestTrial(trials), first)
}

/** The digits of one trial, all on the lattice. */
function tryFactor(trial: i32, factor: f32): void {
  const digits = latticeTrials + 32 * <usize>trial
  for (let i: usize = 0; i < count; i += 16) v128.store(digits + i, roundDigits(latticeValues + 4 * i, factor))
  const scale: f32 = 1 / factor
  let detours = 0
  for (let i: usize = 0, group = 0; i < count; i += width, group++) {
    if (indexOf(digits + i) >= 0) continue
    nearestVector(digits + i, latticeValues + 4 * i, latticeRoots + 4 * i, scale, 0)
    detours |= 1 << group
  }
  store<u8>(latticeDetours + trial, <u8>detours)
}

/** The digits of sixteen values. */
function roundDigits(values: usize, factor: f32): v128 {
  const by = f32x4.splat(factor)
  const low = i16x8.narrow_i32x4_s(roundFour(values, by), roundFour(values + 16, by))
  const high = i16x8.narrow_i32x4_s(roundFour(values + 32, by), roundFour(values + 48, by))
  return i8x16.min_u(i8x16.narrow_i16x8_u(low, high), i8x16.splat(<i8>limit))
}

/** To nearest, halves to even, as `nearestInt`. */
function roundFour(values: usize, factor: v128): v128 {
  const places = f32x4.mul(f32x4.splat(0.5), f32x4.sub(f32x4.mul(factor, v128.load(values)), f32x4.splat(1)))
  const bits = v128.and(f32x4.add(places, f32x4.splat(12582912)), i32x4.splat(0x7fffff))
  return i32x4.sub(bits, i32x4.splat(0x400000))
}

/** The sums of four trials. */
function sumTrials(trial: i32): void {
  let product = f32x4.splat(0)
  let square = f32x4.splat(0)
  const digits = latticeTrials + 32 * <usize>trial
  const one = i8x16.splat(1)
  for (let i: usize = 0; i < count; i += 4) {
    // The bytes of the first value for all four, then those of the second, and so on.
    const ab = i8x16.shuffle(
      v128.load32_zero(digits + i),
      v128.load32_zero(digits + i, 32),
      0,
      16,
      1,
      17,
      2,
      18,
      3,
      19,
      4,
      20,
      5,
      21,
      6,
      22,
      7,
      23,
    )
    const cd = i8x16.shuffle(
      v128.load32_zero(digits + i, 64),
      v128.load32_zero(digits + i, 96),
      0,
      16,
      1,
      17,
      2,
      18,
      3,
      19,
      4,
      20,
      5,
      21,
      6,
      22,
      7,
      23,
    )
    const codes = i16x8.shuffle(ab, cd, 0, 8, 1, 9, 2, 10, 3, 11)
    const bytes = i8x16.add(i8x16.add(codes, codes), one)
    const low = i16x8.extend_low_i8x16_u(bytes)
    const high = i16x8.extend_high_i8x16_u(bytes)
    const a = f32x4.convert_i32x4_u(i32x4.extend_low_i16x8_u(low))
    const b = f32x4.convert_i32x4_u(i32x4.extend_high_i16x8_u(low))
    const c = f32x4.convert_i32x4_u(i32x4.extend_low_i16x8_u(high))
    const d = f32x4.convert_i32x4_u(i32x4.extend_high_i16x8_u(high))
    const at: usize = 4 * i
    product = f32x4.add(product, f32x4.mul(v128.load32_splat(latticeProducts + at), a))
    square = f32x4.add(square, f32x4.mul(f32x4.mul(v128.load32_splat(latticeWeights + at), a), a))
    product = f32x4.add(product, f32x4.mul(v128.load32_splat(latticeProducts + at, 4), b))
    square = f32x4.add(square, f32x4.mul(f32x4.mul(v128.load32_splat(latticeWeights + at, 4), b), b))
    product = f32x4.add(product, f32x4.mul(v128.load32_splat(latticeProducts + at, 8), c))
    square = f32x4.add(square, f32x4.mul(f32x4.mul(v128.load32_splat(latticeWeights + at, 8), c), c))
    product = f32x4.add(product, f32x4.mul(v128.load32_splat(latticeProducts + at, 12), d))
    square = f32x4.add(square, f32x4.mul(f32x4.mul(v128.load32_splat(latticeWeights + at, 12), d), d))
  }
  v128.store(trialProducts + 4 * <usize>trial, product)
  v128.store(trialSquares + 4 * <usize>trial, square)
}

/** The trial that leaves the least error, the first of them if there are several; -1 if none fits. */
function bestTrial(trials: i32): i32 {
  let best: f32 = 0
  let found = -1
  for (let trial = 0; trial < trials; trial++) {
    const product = load<f32>(trialProducts + 4 * <usize>trial)
    const square = load<f32>(trialSquares + 4 * <usize>trial)
    if (!(square > 0 && product * product > best * square)) continue
    best = (product / square) * product
    found = trial
  }
  return found
}

/** Takes the digits of a trial, chooses vectors again, and returns the scale that goes with them. */
function finish(trial: i32, first: f32): f32 {
  let scale = first
  let detours = again === againOff ? 0 : 255
  memory.fill(latticeBest, 0, 32)
  if (trial >= 0) {
    scale = load<f32>(trialProducts + 4 * <usize>trial) / load<f32>(trialSquares + 4 * <usize>trial)
    detours = load<u8>(latticeDetours + trial)
    memory.copy(latticeBest, latticeTrials + 32 * <usize>trial, count)
  }
  if ((again !== againAll && detours === 0) || !(scale > 0)) return scale
  const rounded = latticeTrials
  for (let i: usize = 0; i < count; i += 16) v128.store(rounded + i, roundDigits(latticeValues + 4 * i, 1 / scale))
  for (let i: usize = 0, group = 0; i < count; i += width, group++) {
    if (again === againOff && !(detours & (1 << group))) continue
    nearestVector(rounded + i, latticeValues + 4 * i, latticeRoots + 4 * i, scale, 0)
    memory.copy(latticeBest + i, rounded + i, width)
  }
  let product: f32 = 0
  let square: f32 = 0
  for (let i: usize = 0; i < count; i++) {
    const level = <f32>(((<i32>load<u8>(latticeBest + i)) << 1) + 1)
    product += load<f32>(latticeProducts + 4 * i) * level
    square += load<f32>(latticeWeights + 4 * i) * level * level
  }
  return square > 0 ? product / square : scale
}
