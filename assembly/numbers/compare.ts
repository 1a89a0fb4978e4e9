// How far two lists of f32 are apart, block by block of 1024. Each sum has a lane of its own and adds in the order of the values, as the
// plain twin does, so that the results are equal to the last bit.
import { totals } from './memory-map'

const blockBytes: usize = 4096

/**
 * Leaves ten f64 per block in `totals`: Σ|a−b|, Σ(a−b)², Σa², Σb², Σab; and, where the first is neither zero nor infinite nor NaN, the
 * largest |a−b|, and how many values differ, are farther apart than abs + rel · max(|a|, |b|), and farther than share · max(|a|, |b|).
 */
export function compareBlocks(a: usize, b: usize, blocks: i32, abs: f64, rel: f64, share: f64): void {
  for (let target = totals; blocks > 0; blocks--) {
    addUp(a, b, target)
    const apart = load<f64>(target)
    if (apart > 0 && apart < Infinity) measure(a, b, target, abs, rel, share)
    a += blockBytes
    b += blockBytes
    target += 80
  }
}

function addUp(a: usize, b: usize, target: usize): void {
  let apart = f64x2.splat(0)
  let errorAndFirst = f64x2.splat(0)
  let secondAndProduct = f64x2.splat(0)
  for (const end = a + blockBytes; a < end; a += 8) {
    const x = f64x2.promote_low_f32x4(v128.load_zero<u64>(a))
    const y = f64x2.promote_low_f32x4(v128.load_zero<u64>(b))
    const rest = f64x2.sub(x, y)
    const distance = f64x2.abs(rest)
    const error = f64x2.mul(rest, rest)
    const first = f64x2.mul(x, x)
    const second = f64x2.mul(y, y)
    const product = f64x2.mul(x, y)
    apart = f64x2.add(apart, distance)
    errorAndFirst = f64x2.add(errorAndFirst, i64x2.shuffle(error, first, 0, 2))
    secondAndProduct = f64x2.add(secondAndProduct, i64x2.shuffle(second, product, 0, 2))
    apart = f64x2.add(apart, i64x2.shuffle(distance, distance, 1, 0))
    errorAndFirst = f64x2.add(errorAndFirst, i64x2.shuffle(error, first, 1, 3))
    secondAndProduct = f64x2.add(secondAndProduct, i64x2.shuffle(second, product, 1, 3))
    b += 8
  }
  store<f64>(target, f64x2.extract_lane(apart, 0))
  v128.store(target, errorAndFirst, 8)
  v128.store(target, secondAndProduct, 24)
}

function measure(a: usize, b: usize, target: usize, abs: f64, rel: f64, share: f64): void {
  const zero = f64x2.splat(0)
  const absolute = f64x2.splat(abs)
  const relative = f64x2.splat(rel)
  const farthest = f64x2.splat(share)
  let largest = zero
  let differing = zero
  let beyond = zero
  let exceeding = zero
  for (const end = a + blockBytes; a < end; a += 8) {
    const x = f64x2.promote_low_f32x4(v128.load_zero<u64>(a))
    const y = f64x2.promote_low_f32x4(v128.load_zero<u64>(b))
    const distance = f64x2.abs(f64x2.sub(x, y))
    const size = f64x2.pmax(f64x2.abs(x), f64x2.abs(y))
    const differs = f64x2.gt(distance, zero)
    const limit = f64x2.add(absolute, f64x2.mul(relative, size))
    largest = f64x2.pmax(largest, distance)
    // A true comparison is −1 as an integer.
    differing = i64x2.sub(differing, differs)
    beyond = i64x2.sub(beyond, v128.and(differs, f64x2.gt(distance, limit)))
    exceeding = i64x2.sub(exceeding, f64x2.gt(distance, f64x2.mul(farthest, size)))
    b += 8
  }
  store<f64>(target, max(f64x2.extract_lane(largest, 0), f64x2.extract_lane(largest, 1)), 40)
  store<f64>(target, sumOf(differing), 48)
  store<f64>(target, sumOf(beyond), 56)
  store<f64>(target, sumOf(exceeding), 64)
}

function sumOf(counts: v128): f64 {
  return <f64>(i64x2.extract_lane(counts, 0) + i64x2.extract_lane(counts, 1))
}
