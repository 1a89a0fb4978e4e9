// Types whose scale follows from the largest value, or the mean magnitude, alone: 4-bit floats, ternary digits, and blocks of one or two bits.
import { largestMagnitude } from './encode-legacy'
import { putF16 } from './lanes'

// 4-bit floats. The scale is that of twice their values, so that those are whole numbers.

/** Blocks that are too small for the lowest exponent get it all the same. */
export function encodeMXFP4(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const largest = largestMagnitude(source, 128)
    const exponent = max(0, floorLog2(largest) + 125)
    store<u8>(target, <u8>exponent)
    // 2^(exponent - 128), which is subnormal for the two lowest.
    const scale = reinterpret<f32>(exponent > 1 ? (exponent - 1) << 23 : 0x200000 << exponent)
    const first = fp4At(source, scale, largest)
    const second = fp4At(source + 64, scale, largest)
    v128.store(target, v128.or(first, i8x16.shl(second, 4)), 1)
    source += 128
    target += 17
  }
}

/**
 * The binary logarithm of a magnitude, rounded to f32 and then down; subnormals count as less than all others. Where the logarithm is so close
 * below a whole number that f32 has nothing in between, it rounds to that. The closer to zero the whole number, the finer is f32: of
 * the places before a power of two, ln 2 · 2^k round to it, where 2^k is the power of two at or below the size of the logarithm.
 */
function floorLog2(magnitude: f32): i32 {
  const bits = reinterpret<i32>(magnitude)
  const exponent = (bits >> 23) - 127
  const distance = 0x800000 - (bits & 0x7fffff)
  // Of the two whole numbers around the logarithm, the one closer to zero, without its sign.
  const size = exponent ^ (exponent >> 31)
  if (size === 0 || distance > 44) return exponent
  return distance <= <i32>(<f32>Math.LN2 * <f32>(1 << (31 - clz(size)))) ? exponent + 1 : exponent
}

export function encodeNVFP4(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    for (let group: usize = 0; group < 4; group++) {
      const largest = largestMagnitude(source, 64)
      const code = nvScaleCode(largest / 6)
      store<u8>(target + group, <u8>code)
      const codes = fp4At(source, nvScale(code), largest)
      const pairs = v128.or(codes, i8x16.shl(i64x2.shuffle(codes, codes, 1, 0), 4))
      v128.store64_lane(target + 4 + 8 * group, pairs, 0)
      source += 64
    }
    target += 36
  }
}

/** An unsigned float with four bits of exponent and three of mantissa, halves rounded up. */
function nvScaleCode(value: f32): i32 {
  const bounded = min(value, 448)
  const bits = reinterpret<i32>(bounded)
  const exponent = (bits >> 23) - 120
  if (exponent <= 0) return min(7, <i32>(bounded * 512 + 0.5))
  // The rounding bit carries into the exponent by itself. The highest exponent has one code.
  const code = (exponent << 3) + ((bits >> 20) & 7) + ((bits >> 19) & 1)
  return code >= 0x78 ? 0x7e : code
}

function nvScale(code: i32): f32 {
  const exponent = code >> 3
  if (exponent === 0) return <f32>code / 1024
  return reinterpret<f32>(((exponent + 119) << 23) | ((code & 7) << 20))
}

/** The codes of the 4-bit floats nearest to sixteen values, the smaller of two that are equally near. */
function fp4At(values: usize, scale: f32, largest: f32): v128 {
  const isNear = largest <= scale * 16 && scale * 12 < Infinity
  const a = isNear ? nearFp4(values, scale) : farFp4(values, scale)
  const b = isNear ? nearFp4(values + 16, scale) : farFp4(values + 16, scale)
  const c = isNear ? nearFp4(values + 32, scale) : farFp4(values + 32, scale)
  const d = isNear ? nearFp4(values + 48, scale) : farFp4(values + 48, scale)
  return i8x16.narrow_i16x8_u(i16x8.narrow_i32x4_s(a, b), i16x8.narrow_i32x4_s(c, d))
}

/** The code of a magnitude is how many midpoints it lies above. A comparison that holds is −1 as an integer. */
function nearFp4(values: usize, scale: f32): v128 {
  const signed = v128.load(values)
  const magnitudes = f32x4.abs(signed)
  let above = f32x4.gt(magnitudes, f32x4.splat(scale * 0.5))
  above = i32x4.add(above, f32x4.gt(magnitudes, f32x4.splat(scale * 1.5)))
  above = i32x4.add(above, f32x4.gt(magnitudes, f32x4.splat(scale * 2.5)))
  above = i32x4.add(above, f32x4.gt(magnitudes, f32x4.splat(scale * 3.5)))
  above = i32x4.add(above, f32x4.gt(magnitudes, f32x4.splat(scale * 5)))
  above = i32x4.add(above, f32x4.gt(magnitudes, f32x4.splat(scale * 7)))
  above = i32x4.add(above, f32x4.gt(magnitudes, f32x4.splat(scale * 10)))
  return withSigns(i32x4.neg(above), signed)
}

/** Far beyond the largest float, errors round to the same number, and zero wins; some floats are infinite. So this compares errors. */
function farFp4(values: usize, scale: f32): v128 {
  const signed = v128.load(values)
  const magnitudes = f32x4.abs(signed)
  let least = magnitudes
  let codes = i32x4.splat(0)
  for (let code = 1; code < 8; code++) {
    const doubled: f32 = code < 5 ? <f32>code : code === 5 ? 6 : code === 6 ? 8 : 12
    const error = f32x4.abs(f32x4.sub(f32x4.splat(doubled * scale), magnitudes))
    codes = v128.bitselect(i32x4.splat(code), codes, f32x4.lt(error, least))
    least = f32x4.pmin(least, error)
  }
  return withSigns(codes, signed)
}

/** There is no minus zero. */
function withSigns(codes: v128, values: v128): v128 {
  const isNegative = v128.and(i32x4.shr_s(values, 31), i32x4.gt_s(codes, i32x4.splat(0)))
  return v128.or(codes, v128.and(isNegative, i32x4.splat(8)))
}

// Ternary digits: -1, 0 and 1 as 0, 1 and 2.

/** Five digits in a byte, the first the highest, as a fraction of 243 in 256ths, rounded up. */
export function encodeTQ1_0(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const largest = largestMagnitude(source, 1024)
    const factor = f32x4.splat(boundedInverse(largest))
    for (let at: usize = 0; at < 32; at += 4) putTrits(source + 4 * at, 128, factor, target + at)
    for (let at: usize = 0; at < 16; at += 4) putTrits(source + 640 + 4 * at, 64, factor, target + 32 + at)
    let numbers = tritsAt(source + 960, factor)
    for (let at: usize = 16; at < 64; at += 16) numbers = nextTrit(numbers, tritsAt(source + 960 + at, factor))
    putFractions(target + 48, nextTrit(numbers, i32x4.splat(0)))
    putF16(target + 52, largest)
    source += 1024
    target += 54
  }
}

/** Four bytes; their digits are `apart` bytes from each other. */
function putTrits(values: usize, apart: usize, factor: v128, target: usize): void {
  let numbers = tritsAt(values, factor)
  for (let n: usize = 1; n < 5; n++) numbers = nextTrit(numbers, tritsAt(values + n * apart, factor))
  putFractions(target, numbers)
}

function nextTrit(numbers: v128, trits: v128): v128 {
  return i32x4.add(i32x4.mul(numbers, i32x4.splat(3)), trits)
}

/** Dividing by 243 is multiplying by 69043 / 2^24, exactly enough for these numbers. */
function putFractions(target: usize, numbers: v128): void {
  const scaled = i32x4.add(i32x4.shl(numbers, 8), i32x4.splat(242))
  const bytes = i32x4.shr_u(i32x4.mul(scaled, i32x4.splat(69043)), 24)
  store<u32>(target, packed(bytes))
}

/** Two bits per value, in planes of 32 bytes. */
export function encodeTQ2_0(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const largest = largestMagnitude(source, 1024)
    const factor = f32x4.splat(boundedInverse(largest))
    for (let half: usize = 0; half < 2; half++) {
      for (let at: usize = 0; at < 32; at += 4) {
        const values = source + 512 * half + 4 * at
        let bytes = tritsAt(values, factor)
        bytes = v128.or(bytes, i32x4.shl(tritsAt(values + 128, factor), 2))
        bytes = v128.or(bytes, i32x4.shl(tritsAt(values + 256, factor), 4))
        bytes = v128.or(bytes, i32x4.shl(tritsAt(values + 384, factor), 6))
        store<u32>(target + 32 * half + at, packed(bytes))
      }
    }
    putF16(target + 64, largest)
    source += 1024
    target += 66
  }
}

/** Zero for scales that are next to nothing, so that all values count as zero. */
function boundedInverse(scale: f32): f32 {
  const inverse: f32 = 1 / scale
  return inverse < Infinity ? inverse : 0
}

/** Four products of at most about one, to the nearest digits, halves away from zero. A comparison that holds is −1 as an integer. */
function tritsAt(values: usize, factor: v128): v128 {
  const products = f32x4.mul(v128.load(values), factor)
  const above = f32x4.ge(products, f32x4.splat(0.5))
  const below = f32x4.le(products, f32x4.splat(-0.5))
  return i32x4.add(i32x4.splat(1), i32x4.sub(below, above))
}

/** Four bytes from four numbers. */
function packed(numbers: v128): u32 {
  const halves = i16x8.narrow_i32x4_u(numbers, numbers)
  return i32x4.extract_lane(i8x16.narrow_i16x8_u(halves, halves), 0)
}

// One and two bits.

/** The mean magnitude, and a bit for every value that is not negative. */
export function encodeQ1_0(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    let sum: f32 = 0
    for (let at: usize = 0; at < 512; at += 4) sum += abs(load<f32>(source + at))
    putF16(target, sum / 128)
    for (let byte: usize = 0; byte < 16; byte++) {
      const low = signsAt(source + 32 * byte)
      store<u8>(target + byte, <u8>(low | (signsAt(source + 32 * byte + 16) << 4)), 2)
    }
    source += 512
    target += 18
  }
}

function signsAt(values: usize): i32 {
  return i32x4.bitmask(f32x4.ge(v128.load(values), f32x4.splat(0)))
}

/** Codes as of ternary digits, four next to each other in a byte. Where the inverse of the scale is infinite, all codes are zero. */
export function encodeQ2_0(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const largest = largestMagnitude(source, 256)
    const inverse: f32 = largest === 0 ? 0 : 1 / largest
    putF16(target, largest)
    if (inverse < Infinity) {
      const factor = f32x4.splat(inverse)
      for (let byte: usize = 0; byte < 16; byte++) {
        store<u8>(target + byte, <u8>pairs(tritsAt(source + 16 * byte, factor)), 2)
      }
    } else memory.fill(target + 2, 0, 16)
    source += 256
    target += 18
  }
}

/** Two bits of each of four numbers. */
function pairs(numbers: v128): i32 {
  const low = i32x4.bitmask(i32x4.shl(numbers, 31))
  const high = i32x4.bitmask(i32x4.shl(numbers, 30))
  return spread(low) | (spread(high) << 1)
}

/** Four bits to every other place. */
function spread(bits: i32): i32 {
  const apart = (bits | (bits << 2)) & 0x33
  return (apart | (apart << 1)) & 0x55
}
