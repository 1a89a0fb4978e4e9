// f32 to shorter floats, to nearest, ties to even. A NaN keeps its sign and the leading bits of its payload; where those are all zero it
// gets the bit that makes it quiet, since otherwise it would turn into infinity.
import { lanes16, lanes32 } from './constants'
import { codeTable } from './room'

/** f16, eight at a time. What is neither normal nor too large is rare and has a way of its own. */
export function narrowHalves(source: usize, target: usize, count: i32): void {
  const mask = lanes32(0x7fffffff)
  const smallest = lanes32(0x38800000)
  const beyond = lanes32(0x47800000)
  const outside = lanes32(0xf0000000)
  const one = lanes32(1)
  const rebase = lanes32(0x37fff001)
  const infinity = lanes32(0x7c00)
  const half = lanes32(0x3f000000)
  const signs = lanes16(0x8000)
  for (const end = target + 2 * count; target < end; target += 16) {
    const x = v128.load(source)
    const y = v128.load(source, 16)
    let a = v128.and(x, mask)
    let b = v128.and(y, mask)
    const above = v128.or(i32x4.sub(a, smallest), i32x4.sub(b, smallest))
    if (v128.any_true(v128.and(above, outside))) {
      // A half's subnormals are as far apart as f32 between 0.5 and 1, so adding 0.5 rounds to them.
      const tinyA = i32x4.sub(f32x4.add(a, half), half)
      const tinyB = i32x4.sub(f32x4.add(b, half), half)
      const normalA = narrowNormal(i32x4.min_s(a, beyond), rebase, one, infinity)
      const normalB = narrowNormal(i32x4.min_s(b, beyond), rebase, one, infinity)
      a = v128.bitselect(tinyA, normalA, i32x4.gt_s(smallest, a))
      b = v128.bitselect(tinyB, normalB, i32x4.gt_s(smallest, b))
      if (haveNaN(x, y)) {
        a = keepNaNs(x, a, 13, 0x7c00, 0x200)
        b = keepNaNs(y, b, 13, 0x7c00, 0x200)
      }
    } else {
      a = narrowNormal(a, rebase, one, infinity)
      b = narrowNormal(b, rebase, one, infinity)
    }
    const upper = i16x8.narrow_i32x4_s(i32x4.shr_s(x, 16), i32x4.shr_s(y, 16))
    v128.store(target, v128.or(i16x8.narrow_i32x4_u(a, b), v128.and(upper, signs)))
    source += 32
  }
}

/** Magnitudes from the smallest normal half to twice the largest one. `rebase` takes off 112 exponents and adds nearly half a step. */
function narrowNormal(magnitude: v128, rebase: v128, one: v128, infinity: v128): v128 {
  const odd = v128.and(i32x4.shr_u(magnitude, 13), one)
  return i32x4.min_s(i32x4.shr_u(i32x4.add(i32x4.sub(magnitude, rebase), odd), 13), infinity)
}

/** bf16, eight at a time. */
export function narrowBrains(source: usize, target: usize, count: i32): void {
  const one = lanes32(1)
  const nearlyHalf = lanes32(0x7fff)
  for (const end = target + 2 * count; target < end; target += 16) {
    const x = v128.load(source)
    const y = v128.load(source, 16)
    let a = i32x4.shr_u(i32x4.add(i32x4.add(x, nearlyHalf), v128.and(i32x4.shr_u(x, 16), one)), 16)
    let b = i32x4.shr_u(i32x4.add(i32x4.add(y, nearlyHalf), v128.and(i32x4.shr_u(y, 16), one)), 16)
    if (haveNaN(x, y)) {
      a = keepNaNs(x, a, 16, 0x7f80, 0x40)
      b = keepNaNs(y, b, 16, 0x7f80, 0x40)
    }
    v128.store(target, i16x8.narrow_i32x4_u(a, b))
    source += 32
  }
}

function haveNaN(x: v128, y: v128): bool {
  return v128.any_true(v128.or(f32x4.ne(x, x), f32x4.ne(y, y)))
}

/** Puts NaNs in the places of codes. `infinity` is the code of infinity, `quiet` the leading bit of the payload. */
function keepNaNs(bits: v128, codes: v128, shift: i32, infinity: i32, quiet: i32): v128 {
  const cut = i32x4.shr_u(v128.and(bits, i32x4.splat(0x7fffffff)), shift)
  const kept = v128.or(v128.and(cut, i32x4.splat(0x7fff)), i32x4.splat(infinity))
  const nan = v128.or(kept, v128.and(i32x4.eq(kept, i32x4.splat(infinity)), i32x4.splat(quiet)))
  const sign = v128.and(i32x4.shr_u(bits, 16), i32x4.splat(0x8000))
  return v128.bitselect(v128.or(nan, sign), codes, f32x4.ne(bits, bits))
}

/**
 * Floats of eight bits and fewer, one code per byte. They round within the upper half of an f32, so its lower half only matters as "something
 * more": the upper half, its last bit set for that, leads to the code in a table of u16. Returns all codes or-ed together: more than eight
 * bits mean that a value has none. `count` is a multiple of four.
 */
export function narrowByTable(source: usize, target: usize, count: i32): u32 {
  let all: u32 = 0
  for (const end = target + count; target < end; target += 4) {
    const a = codeOf(load<u32>(source))
    const b = codeOf(load<u32>(source, 4))
    const c = codeOf(load<u32>(source, 8))
    const d = codeOf(load<u32>(source, 12))
    all |= a | b | c | d
    store<u32>(target, a | (b << 8) | (c << 16) | (d << 24))
    source += 16
  }
  return all
}

function codeOf(bits: u32): u32 {
  const upper = (bits >> 16) | <u32>((bits & 0xffff) !== 0)
  return load<u16>((<usize>upper) << 1, codeTable)
}
