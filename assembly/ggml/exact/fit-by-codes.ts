// The scales of Q3_K as ggml finds them without importance weights, of four sub-blocks of 16 at a time; as `fitByCodes` in
// src/kernels/ggml/reference/fit-signed.ts: one scale each, then the codes change one by one as long as that lessens an error.
import { codes, columnCodes, columnValues, columnWeights, fitScales } from '../memory-map'

const limit: f32 = 4

/** Leaves scales and codes, which count from the lowest. */
export function fitByCodes(sub: usize): void {
  const zero = f32x4.splat(0)
  let extreme = zero
  for (let at: usize = 0; at < 256; at += 16) {
    const value = v128.load(columnValues + at)
    v128.store(columnWeights + at, f32x4.mul(value, value))
    extreme = v128.bitselect(value, extreme, f32x4.gt(f32x4.abs(value), f32x4.abs(extreme)))
  }
  const isEmpty = f32x4.lt(f32x4.abs(extreme), f32x4.splat(1e-15))
  const factor = f32x4.div(f32x4.splat(-limit), extreme)
  let sumXL = zero
  let sumLL = zero
  for (let at: usize = 0; at < 256; at += 16) {
    const value = v128.load(columnValues + at)
    const weight = v128.load(columnWeights + at)
    const code = nearest(f32x4.mul(factor, value))
    v128.store(columnCodes + at, code)
    sumXL = f32x4.add(sumXL, f32x4.mul(f32x4.mul(weight, value), code))
    sumLL = f32x4.add(sumLL, f32x4.mul(f32x4.mul(weight, code), code))
  }
  // A sub-block in which nothing changed is done; another round would find the same.
  for (let round = 0; round < 5; round++) {
    let changed = i32x4.splat(0)
    for (let at: usize = 0; at < 256; at += 16) {
      const value = v128.load(columnValues + at)
      const weight = v128.load(columnWeights + at)
      const code = v128.load(columnCodes + at)
      const weighted = f32x4.mul(weight, value)
      let otherXL = f32x4.sub(sumXL, f32x4.mul(weighted, code))
      let otherLL = f32x4.sub(sumLL, f32x4.mul(f32x4.mul(weight, code), code))
      const isPositive = f32x4.gt(otherXL, zero)
      const next = nearest(f32x4.div(f32x4.mul(value, otherLL), otherXL))
      otherXL = f32x4.add(otherXL, f32x4.mul(weighted, next))
      otherLL = f32x4.add(otherLL, f32x4.mul(f32x4.mul(weight, next), next))
      const isCloser = f32x4.gt(
        f32x4.mul(f32x4.mul(otherXL, otherXL), sumLL),
        f32x4.mul(f32x4.mul(sumXL, sumXL), otherLL),
      )
      const isOther = v128.and(f32x4.ne(next, code), f32x4.gt(otherLL, zero))
      const changes = v128.and(isPositive, v128.and(isCloser, isOther))
      v128.store(columnCodes + at, v128.bitselect(next, code, changes))
      sumXL = v128.bitselect(otherXL, sumXL, changes)
      sumLL = v128.bitselect(otherLL, sumLL, changes)
      changed = v128.or(changed, changes)
    }
    if (!v128.any_true(changed)) break
  }
  const scale = v128.and(f32x4.div(sumXL, sumLL), f32x4.gt(sumLL, zero))
  v128.store(fitScales + 4 * sub, v128.andnot(scale, isEmpty))
  for (let i: usize = 0; i < 16; i++) {
    // Nothing to fit: the code is zero, which is stored as the lowest where there is no scale.
    const code = v128.bitselect(i32x4.splat(0), wholeOf(v128.load(columnCodes + 16 * i)), isEmpty)
    const to = codes + 16 * sub + i
    store<u8>(to, <u8>i32x4.extract_lane(code, 0))
    store<u8>(to + 16, <u8>i32x4.extract_lane(code, 1))
    store<u8>(to + 32, <u8>i32x4.extract_lane(code, 2))
    store<u8>(to + 48, <u8>i32x4.extract_lane(code, 3))
  }
}

function wholeOf(code: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.add(code, f32x4.splat(limit)))
}

/** To the nearest whole number as `nearestInt` has it, between the limits. */
function nearest(places: v128): v128 {
  const bits = v128.and(f32x4.add(places, f32x4.splat(12582912)), i32x4.splat(0x7fffff))
  const whole = i32x4.sub(bits, i32x4.splat(0x400000))
  return f32x4.convert_i32x4_s(i32x4.min_s(i32x4.max_s(whole, i32x4.splat(-4)), i32x4.splat(3)))
}
