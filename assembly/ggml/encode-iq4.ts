// IQ4_NL and IQ4_XS: sixteen levels that are denser around zero, and sixteen scales to try for every 32 values. Sums have to run from the
// first value to the last, so the lanes are not values but trials: all sixteen run side by side, each in the order of the plain code.
import { extremeOf } from './encode-legacy'
import { putF16 } from './lanes'
import { levelScales, levelSums, levelWeights } from './memory-map'
import { nearestInt } from './rounding'
import { kept } from './scratch'

/** The first number of IQ4's levels, where the extreme value goes. */
const lowest: f32 = -127
const negligible: f32 = 1e-15

export function encodeIQ4_NL(source: usize, target: usize, blocks: i32, importance: usize): void {
  for (; blocks > 0; blocks--) {
    const scale = fitLevels(source, importance, importance ? varianceOf(source, 32) : 0)
    putF16(target, scale)
    putLevels(source, inverse(scale), target + 2)
    source += 128
    if (importance) importance += 128
    target += 18
  }
}

export function encodeIQ4_XS(source: usize, target: usize, blocks: i32, importance: usize): void {
  for (; blocks > 0; blocks--) {
    const variance: f32 = importance ? varianceOf(source, 256) : 0
    let extreme: f32 = 0
    for (let sub: usize = 0; sub < 8; sub++) {
      const scale = fitLevels(source + 128 * sub, importance ? importance + 128 * sub : 0, variance)
      store<f32>(levelScales + 4 * sub, scale)
      if (abs(scale) > abs(extreme)) extreme = scale
    }
    putSteps(source, target, -extreme / 32)
    source += 1024
    if (importance) importance += 1024
    target += 136
  }
}

/** Scales as steps of six bits, and the codes that follow from them. ggml goes on with the step as it is, not as it is stored. */
function putSteps(source: usize, target: usize, step: f32): void {
  const factor = inverse(step)
  let low: u32 = 0
  let high: u32 = 0
  for (let sub: usize = 0; sub < 8; sub++) {
    const steps = max(-32, min(31, nearestInt(factor * load<f32>(levelScales + 4 * sub))))
    const code = <u32>(steps + 32)
    low |= (code & 15) << (4 * <u32>sub)
    high |= (code >> 4) << (2 * <u32>sub)
    putLevels(source + 128 * sub, inverse(step * <f32>steps), target + 8 + 16 * sub)
  }
  putF16(target, step)
  store<u16>(target, <u16>high, 2)
  store<u32>(target, low, 4)
}

function inverse(scale: f32): f32 {
  return scale === 0 ? 0 : 1 / scale
}

/** Twice the mean square. */
function varianceOf(values: usize, count: usize): f32 {
  let sum: f32 = 0
  for (let i: usize = 0; i < count; i++) sum += load<f32>(values + 4 * i) * load<f32>(values + 4 * i)
  return sum * (<f32>2 / <f32>count)
}

/** The scale of 32 values. */
function fitLevels(values: usize, importance: usize, variance: f32): f32 {
  const extreme = extremeOf(values, 128)
  if (abs(extreme) < negligible) return 0
  weigh(values, importance, variance)
  sumLevels(values, extreme)
  const product = load<f32>(levelSums)
  const square = load<f32>(levelSums, 64)
  let scale: f32 = square > 0 ? product / square : 0
  let best = scale * product
  for (let at = levelSums + 4; at < levelSums + 64; at += 4) {
    const product = load<f32>(at)
    const square = load<f32>(at, 64)
    if (!(square > 0 && product * product > best * square)) continue
    scale = product / square
    best = scale * product
  }
  return scale
}

function weigh(values: usize, importance: usize, variance: f32): void {
  const added = f32x4.splat(variance)
  for (let at: usize = 0; at < 128; at += 16) {
    const four = v128.load(values + at)
    const squares = f32x4.mul(four, four)
    const weights = importance ? f32x4.mul(v128.load(importance + at), f32x4.sqrt(f32x4.add(added, squares))) : squares
    v128.store(levelWeights + at, weights)
  }
}

/** For each of sixteen factors Σ weight · level · value, then Σ weight · level². A level is the nearest to factor · value. */
function sumLevels(values: usize, extreme: f32): void {
  // The extreme value becomes the lowest level, or up to seven less or more. All factors are doubled, as `wholeOf` wants them.
  const once: f32 = 1 / (-extreme / lowest)
  const by = f32x4.splat(extreme)
  const a = twice(f32x4.replace_lane(f32x4.div(f32x4(0, lowest - 7, lowest - 6, lowest - 5), by), 0, once))
  const b = twice(f32x4.div(f32x4(lowest - 4, lowest - 3, lowest - 2, lowest - 1), by))
  const c = twice(f32x4.div(f32x4(lowest, lowest + 1, lowest + 2, lowest + 3), by))
  const d = twice(f32x4.div(f32x4(lowest + 4, lowest + 5, lowest + 6, lowest + 7), by))
  const low = kept(lowBuckets())
  const high = kept(highBuckets())
  const levels = kept(allLevels())
  const up = kept(f32x4.splat(wholeBias))
  let productA = f32x4.splat(0)
  let productB = productA
  let productC = productA
  let productD = productA
  let squareA = productA
  let squareB = productA
  let squareC = productA
  let squareD = productA
  for (let at: usize = 0; at < 128; at += 4) {
    const value = v128.load32_splat(values + at)
    const weight = v128.load32_splat(levelWeights + at)
    const ab = i16x8.narrow_i32x4_u(wholeOf(value, a, up), wholeOf(value, b, up))
    const cd = i16x8.narrow_i32x4_u(wholeOf(value, c, up), wholeOf(value, d, up))
    const bytes = i8x16.swizzle(levels, codesOf(ab, cd, low, high))
    const first = i16x8.extend_low_i8x16_s(bytes)
    const second = i16x8.extend_high_i8x16_s(bytes)
    const levelA = f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(first))
    const levelB = f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(first))
    const levelC = f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(second))
    const levelD = f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(second))
    const weightedA = f32x4.mul(weight, levelA)
    const weightedB = f32x4.mul(weight, levelB)
    const weightedC = f32x4.mul(weight, levelC)
    const weightedD = f32x4.mul(weight, levelD)
    productA = f32x4.add(productA, f32x4.mul(weightedA, value))
    productB = f32x4.add(productB, f32x4.mul(weightedB, value))
    productC = f32x4.add(productC, f32x4.mul(weightedC, value))
    productD = f32x4.add(productD, f32x4.mul(weightedD, value))
    squareA = f32x4.add(squareA, f32x4.mul(weightedA, levelA))
    squareB = f32x4.add(squareB, f32x4.mul(weightedB, levelB))
    squareC = f32x4.add(squareC, f32x4.mul(weightedC, levelC))
    squareD = f32x4.add(squareD, f32x4.mul(weightedD, levelD))
  }
  v128.store(levelSums, productA)
  v128.store(levelSums, productB, 16)
  v128.store(levelSums, productC, 32)
  v128.store(levelSums, productD, 48)
  v128.store(levelSums, squareA, 64)
  v128.store(levelSums, squareB, 80)
  v128.store(levelSums, squareC, 96)
  v128.store(levelSums, squareD, 112)
}

// Nearest levels. Twice a multiple of a value, rounded down, decides: the midpoints between levels are whole numbers then. They are so far
// apart that among 16 numbers next to each other, counted from -240, there is one at most.

function twice(factors: v128): v128 {
  return f32x4.add(factors, factors)
}

/** Adding 1.5 · 2^23 leaves a whole number in the lower bits; and 240, for the start of the first bucket. */
const wholeBias: f32 = 12582912 + 240
const wholeBits: i32 = 0x4b400000

/** Values times twice a factor, rounded down, as distances from -240. The products are between -272 and 272. */
function wholeOf(values: v128, factors: v128, up: v128): v128 {
  return i32x4.sub(f32x4.add(f32x4.floor(f32x4.mul(values, factors)), up), i32x4.splat(wholeBits))
}

/** The codes of sixteen such distances: that from the midpoint of their bucket on, or one less before it. */
function codesOf(first: v128, second: v128, low: v128, high: v128): v128 {
  const mask = i16x8.splat(15)
  const bucket = i8x16.narrow_i16x8_u(i16x8.shr_u(first, 4), i16x8.shr_u(second, 4))
  const place = i8x16.narrow_i16x8_u(v128.and(first, mask), v128.and(second, mask))
  // An index outside of a table gives zero.
  const found = v128.or(i8x16.swizzle(low, bucket), i8x16.swizzle(high, i8x16.sub(bucket, i8x16.splat(16))))
  const midpoint = v128.and(i16x8.shr_u(found, 4), i8x16.splat(15))
  // A comparison that holds is −1 as an integer.
  return i8x16.add(v128.and(found, i8x16.splat(15)), i8x16.lt_s(place, midpoint))
}

function allLevels(): v128 {
  return i8x16(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)
}

/** By bucket: in the upper four bits where its midpoint is, in the lower ones the code from there on. 0 for buckets without one. */
function lowBuckets(): v128 {
  return i32x4(0x52010191, 0xe403c302, 0x7605c504, 0xe9780706)
}

function highBuckets(): v128 {
  return i32x4(0x0bfb6a09, 0x0dad0cbc, 0xaf0e0eee, 0x0f0f0f0f)
}

/** The codes of 32 values. */
function putLevels(values: usize, factor: f32, target: usize): void {
  // Zero times infinity is NaN, which gets the code 1, as everything does if the scale itself is NaN.
  if (!(abs(factor) < Infinity)) {
    putExtremeLevels(values, factor, target)
    return
  }
  const first = levelsAt(values, factor)
  const second = levelsAt(values + 64, factor)
  v128.store(target, v128.or(first, i8x16.shl(second, 4)))
}

function levelsAt(values: usize, factor: f32): v128 {
  const factors = f32x4.splat(factor)
  const ab = i16x8.narrow_i32x4_u(boundedAt(values, factors), boundedAt(values + 16, factors))
  const cd = i16x8.narrow_i32x4_u(boundedAt(values + 32, factors), boundedAt(values + 48, factors))
  return codesOf(ab, cd, lowBuckets(), highBuckets())
}

/** As `wholeOf`; the outermost levels begin before ±120. */
function boundedAt(values: usize, factors: v128): v128 {
  const products = f32x4.mul(v128.load(values), factors)
  const bounded = f32x4.pmin(f32x4.pmax(products, f32x4.splat(-120)), f32x4.splat(120))
  return wholeOf(bounded, f32x4.splat(2), f32x4.splat(wholeBias))
}

function putExtremeLevels(values: usize, factor: f32, target: usize): void {
  for (let i: usize = 0; i < 16; i++) {
    const low = extremeLevel(load<f32>(values + 4 * i) * factor)
    const high = extremeLevel(load<f32>(values + 4 * i, 64) * factor)
    store<u8>(target + i, <u8>(low | (high << 4)))
  }
}

/** Of an infinity or NaN. */
function extremeLevel(value: f32): i32 {
  return value < 0 ? 0 : value > 0 ? 15 : 1
}
