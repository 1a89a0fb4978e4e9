// The first pass of statistics over f32: sums, extremes, used bits, and how often each top digit occurs. Two blocks of 1024 values are
// processed side by side. A block is summed as in the plain twin, in one f64 for values at even places and one for odd ones, so that the
// result is equal to the last bit; with two blocks the processor need not wait for one addition before it starts the next.
import { evenTops, found, oddTops, results, totals } from '../memory-map'

const blockBytes: usize = 4096
const topBytes: usize = 4 << 16
const minusZero: usize = 4 << 15

/**
 * For pairs of blocks: writes the sum of each block to `totals`, and to `results`: used bits (4 × u32); the smallest and the largest
 * values (4 × f32 each), of blocks with a finite sum only; how many zeros there are, and how many of them are minus zero (u32 each).
 */
export function summarize(values: usize, pairs: i32): void {
  let used = i32x4.splat(0)
  let low = f32x4.splat(Infinity)
  let high = f32x4.splat(-Infinity)
  let total = totals
  store<u64>(results, 0, 48)
  for (; pairs > 0; pairs--) {
    const tiny = countTiny()
    let a = f64x2.splat(0)
    let b = f64x2.splat(0)
    let lowA = f32x4.splat(Infinity)
    let lowB = f32x4.splat(Infinity)
    let highA = f32x4.splat(-Infinity)
    let highB = f32x4.splat(-Infinity)
    const end = values + blockBytes
    for (; values < end; values += 16) {
      const x = v128.load(values)
      const y = v128.load(values, blockBytes)
      a = f64x2.add(a, f64x2.promote_low_f32x4(x))
      b = f64x2.add(b, f64x2.promote_low_f32x4(y))
      a = f64x2.add(a, f64x2.promote_low_f32x4(i64x2.shuffle(x, x, 1, 0)))
      b = f64x2.add(b, f64x2.promote_low_f32x4(i64x2.shuffle(y, y, 1, 0)))
      lowA = f32x4.pmin(lowA, x)
      lowB = f32x4.pmin(lowB, y)
      highA = f32x4.pmax(highA, x)
      highB = f32x4.pmax(highB, y)
      used = v128.or(used, v128.or(x, y))
      countEven(load<u16>(values, 2))
      countOdd(load<u16>(values, 6))
      countEven(load<u16>(values, 10))
      countOdd(load<u16>(values, 14))
      countEven(load<u16>(values, blockBytes + 2))
      countOdd(load<u16>(values, blockBytes + 6))
      countEven(load<u16>(values, blockBytes + 10))
      countOdd(load<u16>(values, blockBytes + 14))
    }
    const totalA = f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1)
    const totalB = f64x2.extract_lane(b, 0) + f64x2.extract_lane(b, 1)
    if (abs(totalA) < Infinity) {
      low = f32x4.pmin(low, lowA)
      high = f32x4.pmax(high, highA)
    }
    if (abs(totalB) < Infinity) {
      low = f32x4.pmin(low, lowB)
      high = f32x4.pmax(high, highB)
    }
    store<f64>(total, totalA)
    store<f64>(total, totalB, 8)
    total += 16
    if (countTiny() !== tiny) countZeros(values - blockBytes)
    values += blockBytes
  }
  v128.store(results, used)
  v128.store(results, low, 16)
  v128.store(results, high, 32)
}

function countEven(top: u32): void {
  const at: usize = top << 2
  store<u32>(at, load<u32>(at, evenTops) + 1, evenTops)
}

function countOdd(top: u32): void {
  const at: usize = top << 2
  store<u32>(at, load<u32>(at, oddTops) + 1, oddTops)
}

/** How many values were zero or among the smallest subnormals, which have the same top digits. */
function countTiny(): u32 {
  return load<u32>(evenTops) + load<u32>(oddTops) + load<u32>(evenTops + minusZero) + load<u32>(oddTops + minusZero)
}

/** Of a pair of blocks. */
function countZeros(values: usize): void {
  let zero = i32x4.splat(0)
  let negative = i32x4.splat(0)
  const end = values + 2 * blockBytes
  for (; values < end; values += 16) {
    const x = v128.load(values)
    zero = i32x4.sub(zero, f32x4.eq(x, f32x4.splat(0)))
    negative = i32x4.sub(negative, i32x4.eq(x, i32x4.splat(0x80000000)))
  }
  store<u32>(results, load<u32>(results, 48) + sumLanes(zero), 48)
  store<u32>(results, load<u32>(results, 52) + sumLanes(negative), 52)
}

function sumLanes(v: v128): u32 {
  const pairs = i32x4.add(v, i32x4.shuffle(v, v, 2, 3, 0, 1))
  return i32x4.extract_lane(pairs, 0) + i32x4.extract_lane(pairs, 1)
}

/** Empties both tables of top digits into a list of digits and counts (u32 each); returns how many digits there are. */
export function drainTops(): i32 {
  let target = found
  for (let at: usize = 0; at < topBytes; at += 16) {
    const counts = i32x4.add(v128.load(at, evenTops), v128.load(at, oddTops))
    if (!v128.any_true(counts)) continue
    v128.store(at, i32x4.splat(0), evenTops)
    v128.store(at, i32x4.splat(0), oddTops)
    target = list(target, at, i32x4.extract_lane(counts, 0))
    target = list(target, at + 4, i32x4.extract_lane(counts, 1))
    target = list(target, at + 8, i32x4.extract_lane(counts, 2))
    target = list(target, at + 12, i32x4.extract_lane(counts, 3))
  }
  return <i32>((target - found) >> 3)
}

function list(target: usize, at: usize, count: u32): usize {
  store<u32>(target, <u32>at >> 2)
  store<u32>(target, count, 4)
  return count === 0 ? target : target + 8
}
