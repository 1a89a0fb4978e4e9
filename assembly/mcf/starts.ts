// The first step of the search: sixteen scales are tried on a block, with whole numbers of 16 bits in place of floats.
//
// A block becomes `resolution · x / max|x|`, rounded. A start is a number F: the code of x is x·F / 2^15, rounded, which is one
// instruction for eight values. From the codes c of each start two sums are kept, Σcx and Σcc. They give the error under any scale s, as
// long as the codes stay the same: Σxx − s·(2·Σcx − s·Σcc).

import { mirroredCodes, positiveCodes, symmetricCodes, wholeTable } from './memory-map'

/** Steps per half of the value range, per width: fine enough for the codes, coarse enough for F. */
export function resolutionOf(bits: i32): f32 {
  return bits === 8 ? 2048 : bits === 6 ? 1024 : bits === 2 ? 256 : 512
}

// The largest magnitude takes code F · resolution / 2^15: 115 to 127, 25 to 31.6, 5 to 8.5, 2 to 4.8, 0.7 to 2.8.
function firstStart(bits: i32): i32 {
  return bits === 8 ? 1840 : bits === 6 ? 800 : bits === 4 ? 320 : bits === 3 ? 128 : 90
}

function startStep(bits: i32): i32 {
  return bits === 8 ? 13 : bits === 6 ? 14 : bits === 4 ? 15 : bits === 3 ? 12 : 18
}

/** With all codes the sixteen starts are shifted up, to 128.8, 32.4, 9.2, 5.4 and 3.2. */
function laterBy(bits: i32): i32 {
  return bits >= 6 ? 2 : 3
}

function toWhole(values: usize, scale: v128): v128 {
  const bias = f32x4.splat(12582912)
  const offset = i32x4.splat(0x4b400000)
  const a = i32x4.sub(f32x4.add(f32x4.mul(v128.load(values), scale), bias), offset)
  const b = i32x4.sub(f32x4.add(f32x4.mul(v128.load(values, 16), scale), bias), offset)
  return i16x8.narrow_i32x4_s(a, b)
}

function codesOf(x: v128, factor: v128, low: v128, high: v128): v128 {
  return i16x8.max_s(i16x8.min_s(i16x8.q15mulr_sat_s(x, factor), high), low)
}

// The block in whole numbers and the limits of the codes go through memory: V8 moves arithmetic into the loop that uses its result, but does
// not recompute what is loaded.

/** For how many starts no value reaches the extra code: their sums are the same for all codes and for symmetric ones. */
let same: i32 = 0

/** To be called before `tryStarts`. */
export function prepareStarts(bits: i32): void {
  const beyond = ((1 << 14) * ((1 << bits) - 1)) / <i32>resolutionOf(bits)
  same = (beyond - firstStart(bits) + startStep(bits) - 1) / startStep(bits)
  const maxCode = (1 << (bits - 1)) - 1
  putCodes(symmetricCodes, maxCode, -maxCode)
  putCodes(positiveCodes, maxCode, -maxCode - 1)
  putCodes(mirroredCodes, maxCode + 1, -maxCode)
}

function putCodes(at: usize, largest: i32, smallest: i32): void {
  v128.store(at, i16x8.splat(<i16>largest))
  v128.store(at, i16x8.splat(<i16>smallest), 16)
}

function prepareBlock(bits: i32, values: usize, magnitude: f32): void {
  const scale = f32x4.splat(resolutionOf(bits) / magnitude)
  v128.store(wholeTable, toWhole(values, scale))
  v128.store(wholeTable, toWhole(values + 32, scale), 16)
  v128.store(wholeTable, toWhole(values + 64, scale), 32)
  v128.store(wholeTable, toWhole(values + 96, scale), 48)
}

/** Tries `count` starts. 2·Σcx goes to `products` and Σcc to `squares`; all are whole and at most 2^24. */
function sumStarts(limits: usize, start: i32, step: i32, count: i32, products: usize, squares: usize): void {
  for (let end = products + 4 * count; products < end; products += 4) {
    const factor = i16x8.splat(<i16>start)
    start += step
    const high = v128.load(limits)
    const low = v128.load(limits, 16)
    const a = v128.load(wholeTable)
    const b = v128.load(wholeTable, 16)
    const c = v128.load(wholeTable, 32)
    const d = v128.load(wholeTable, 48)
    const codeA = codesOf(a, factor, low, high)
    const codeB = codesOf(b, factor, low, high)
    const codeC = codesOf(c, factor, low, high)
    const codeD = codesOf(d, factor, low, high)
    const product = i32x4.add(
      i32x4.add(i32x4.dot_i16x8_s(codeA, a), i32x4.dot_i16x8_s(codeB, b)),
      i32x4.add(i32x4.dot_i16x8_s(codeC, c), i32x4.dot_i16x8_s(codeD, d)),
    )
    const square = i32x4.add(
      i32x4.add(i32x4.dot_i16x8_s(codeA, codeA), i32x4.dot_i16x8_s(codeB, codeB)),
      i32x4.add(i32x4.dot_i16x8_s(codeC, codeC), i32x4.dot_i16x8_s(codeD, codeD)),
    )
    const twice = i32x4.shl(product, 1)
    const halves = i32x4.add(i32x4.shuffle(twice, square, 0, 1, 4, 5), i32x4.shuffle(twice, square, 2, 3, 6, 7))
    const sums = f32x4.convert_i32x4_s(i32x4.add(halves, i32x4.shuffle(halves, halves, 1, 0, 3, 2)))
    v128.store_lane<u32>(products, sums, 0)
    v128.store_lane<u32>(squares, sums, 2)
    squares += 4
  }
}

/** Tries sixteen starts with symmetric codes. */
export function tryStarts(bits: i32, values: usize, magnitude: f32, products: usize, squares: usize): void {
  prepareBlock(bits, values, magnitude)
  sumStarts(symmetricCodes, firstStart(bits), startStep(bits), 16, products, squares)
}

/** The distance in bytes from the sums of symmetric codes to those of all codes with positive scales, and on to those with negative scales. */
export const apart: usize = 512

/** Tries all codes with scales of one sign on the block that `tryStarts` was called with last, and the same tables. */
export function trySign(bits: i32, isNegative: bool, products: usize, squares: usize): void {
  const side: usize = isNegative ? 2 * apart : apart
  const later = laterBy(bits)
  takeSums(products + 4 * later, products + side)
  takeSums(squares + 4 * later, squares + side)
  const step = startStep(bits)
  const start = firstStart(bits) + same * step
  const at = side + 4 * (same - later)
  const limits = isNegative ? mirroredCodes : positiveCodes
  sumStarts(limits, start, step, 16 + later - same, products + at, squares + at)
}

/** Copies sixteen sums. The last ones belong to another block and are overwritten by the caller. */
function takeSums(from: usize, to: usize): void {
  v128.store(to, v128.load(from))
  v128.store(to, v128.load(from, 16), 16)
  v128.store(to, v128.load(from, 32), 32)
  v128.store(to, v128.load(from, 48), 48)
}

/** The best scale of the sums, for values of the given magnitude. */
export function bestScale(bits: i32, magnitude: f32, products: usize, squares: usize): f32 {
  return bestOf(products, squares) * (magnitude / resolutionOf(bits))
}

/** The largest gain (Σcx)² / Σcc of the sums that were compared last, in squares of a whole step: the error is Σxx less this. */
export let bestGain: f32 = 0

/** The scale Σcx / Σcc of the first start with the largest gain. */
function bestOf(products: usize, squares: usize): f32 {
  const gainA = gainsAt(products, squares, 0)
  const gainB = gainsAt(products, squares, 16)
  const gainC = gainsAt(products, squares, 32)
  const gainD = gainsAt(products, squares, 48)
  let maxima = f32x4.pmax(f32x4.pmax(gainA, gainB), f32x4.pmax(gainC, gainD))
  maxima = f32x4.pmax(maxima, i32x4.shuffle(maxima, maxima, 2, 3, 0, 1))
  maxima = f32x4.pmax(maxima, i32x4.shuffle(maxima, maxima, 1, 0, 3, 2))
  bestGain = f32x4.extract_lane(maxima, 0) / 4
  const found =
    i32x4.bitmask(f32x4.eq(gainA, maxima)) |
    (i32x4.bitmask(f32x4.eq(gainB, maxima)) << 4) |
    (i32x4.bitmask(f32x4.eq(gainC, maxima)) << 8) |
    (i32x4.bitmask(f32x4.eq(gainD, maxima)) << 12)
  const at = <usize>ctz(found) * 4
  return load<f32>(products + at) / 2 / load<f32>(squares + at)
}

function gainsAt(products: usize, squares: usize, at: usize): v128 {
  const product = v128.load(products + at)
  return f32x4.div(f32x4.mul(product, product), v128.load(squares + at))
}
