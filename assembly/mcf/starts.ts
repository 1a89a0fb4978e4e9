// The first step of the search: sixteen scales are tried on a block, with whole numbers of 16 bits in place of floats.
//
// A block becomes `resolution · x / max|x|`, rounded. A start is a number F: the code of x is x·F / 2^15, rounded, which is one
// instruction for eight values. From the codes c of each start two sums are kept, Σcx and Σcc. They tell the error under any scale s, as
// long as the codes stay: Σxx − s·(2·Σcx − s·Σcc).

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

// The block in whole numbers, and the largest and the smallest code eight times each. The compiler behind moves arithmetic into the loop that
// uses its result; what is read from memory it does not work out anew for each start.
const wholeTable: usize = 1024
const limitTable: usize = 1088

/** To be called before `tryStarts`. */
export function prepareStarts(bits: i32): void {
  const most = (1 << (bits - 1)) - 1
  v128.store(limitTable, i16x8.splat(<i16>most))
  v128.store(limitTable, i16x8.splat(<i16>-most), 16)
}

/**
 * Tries all starts. 2·Σcx goes to `products` and Σcc to `squares`, sixteen f32 each; all are whole and below 2^24. Returns the best scale,
 * for values of the given magnitude.
 */
export function tryStarts(bits: i32, values: usize, magnitude: f32, products: usize, squares: usize): f32 {
  const resolution = resolutionOf(bits)
  const scale = f32x4.splat(resolution / magnitude)
  v128.store(wholeTable, toWhole(values, scale))
  v128.store(wholeTable, toWhole(values + 32, scale), 16)
  v128.store(wholeTable, toWhole(values + 64, scale), 32)
  v128.store(wholeTable, toWhole(values + 96, scale), 48)
  let start = firstStart(bits)
  const step = startStep(bits)
  for (let at: usize = 0; at < 64; at += 4) {
    const factor = i16x8.splat(<i16>start)
    start += step
    const high = v128.load(limitTable)
    const low = v128.load(limitTable, 16)
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
    v128.store_lane<u32>(products + at, sums, 0)
    v128.store_lane<u32>(squares + at, sums, 2)
  }
  return bestOf(products, squares) * (magnitude / resolution)
}

/** The scale Σcx / Σcc of the first start with the largest gain (Σcx)² / Σcc. */
function bestOf(products: usize, squares: usize): f32 {
  const gainA = gainsAt(products, squares, 0)
  const gainB = gainsAt(products, squares, 16)
  const gainC = gainsAt(products, squares, 32)
  const gainD = gainsAt(products, squares, 48)
  let most = f32x4.pmax(f32x4.pmax(gainA, gainB), f32x4.pmax(gainC, gainD))
  most = f32x4.pmax(most, i32x4.shuffle(most, most, 2, 3, 0, 1))
  most = f32x4.pmax(most, i32x4.shuffle(most, most, 1, 0, 3, 2))
  const found =
    i32x4.bitmask(f32x4.eq(gainA, most)) |
    (i32x4.bitmask(f32x4.eq(gainB, most)) << 4) |
    (i32x4.bitmask(f32x4.eq(gainC, most)) << 8) |
    (i32x4.bitmask(f32x4.eq(gainD, most)) << 12)
  const at = <usize>ctz(found) * 4
  return load<f32>(products + at) / 2 / load<f32>(squares + at)
}

function gainsAt(products: usize, squares: usize, at: usize): v128 {
  const product = v128.load(products + at)
  return f32x4.div(f32x4.mul(product, product), v128.load(squares + at))
}
