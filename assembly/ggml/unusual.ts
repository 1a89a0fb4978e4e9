// Blocks of the K types whose values are not as weights usually are; as in src/kernels/ggml/unusual.ts.
import { decodeQ2_K, decodeQ3_K, decodeQ4_K, decodeQ5_K, decodeQ6_K } from './decode-k'
import { decodedBlock, marks } from './memory-map'

/**
 * Writes a byte for every block to `marks`: 1 where the error is not between `least` and `most` times the squared ranges of the sub-blocks, where one or
 * two of these are most of their sum, where most values lie near the ends of the range of their sub-block, or where a sub-block has values of one sign only.
 * `bits` names the type.
 */
export function markUnusual(
  source: usize,
  encoded: usize,
  size: usize,
  blocks: i32,
  bits: i32,
  least: f64,
  most: f64,
): void {
  const width: usize = bits === 4 || bits === 5 ? 128 : 64
  for (let block = 0; block < blocks; block++) {
    if (bits === 2) decodeQ2_K(encoded, decodedBlock, 1)
    else if (bits === 3) decodeQ3_K(encoded, decodedBlock, 1)
    else if (bits === 4) decodeQ4_K(encoded, decodedBlock, 1)
    else if (bits === 5) decodeQ5_K(encoded, decodedBlock, 1)
    else decodeQ6_K(encoded, decodedBlock, 1)
    store<u8>(marks + block, isUnusual(source, width, least, most) ? 1 : 0)
    source += 1024
    encoded += size
  }
}

/** Sums run over even and odd places. */
function isUnusual(source: usize, width: usize, least: f64, most: f64): bool {
  let sums = f64x2.splat(0)
  let squares = sums
  let ranges: f64 = 0
  let rangesSquared: f64 = 0
  let apart: f64 = 0
  let at: usize = 0
  while (at < 1024) {
    let low = v128.load(source + at)
    let high = low
    let added = f64x2.splat(0)
    for (const end = at + width; at < end; at += 16) {
      const value = v128.load(source + at)
      const rest = f32x4.sub(value, v128.load(decodedBlock + at))
      const first = f64x2.promote_low_f32x4(rest)
      const second = f64x2.promote_low_f32x4(i32x4.shuffle(rest, rest, 2, 3, 0, 1))
      sums = f64x2.add(sums, f64x2.mul(first, first))
      sums = f64x2.add(sums, f64x2.mul(second, second))
      const firstTwo = f64x2.promote_low_f32x4(value)
      const lastTwo = f64x2.promote_low_f32x4(i32x4.shuffle(value, value, 2, 3, 0, 1))
      added = f64x2.add(added, firstTwo)
      added = f64x2.add(added, lastTwo)
      squares = f64x2.add(squares, f64x2.mul(firstTwo, firstTwo))
      squares = f64x2.add(squares, f64x2.mul(lastTwo, lastTwo))
      low = f32x4.pmin(low, value)
      high = f32x4.pmax(high, value)
    }
    low = f32x4.pmin(low, i32x4.shuffle(low, low, 2, 3, 0, 1))
    high = f32x4.pmax(high, i32x4.shuffle(high, high, 2, 3, 0, 1))
    const lowest = min(f32x4.extract_lane(low, 0), f32x4.extract_lane(low, 1))
    const highest = max(f32x4.extract_lane(high, 0), f32x4.extract_lane(high, 1))
    if (lowest >= 0 || highest <= 0) return true
    const range = (<f64>highest - <f64>lowest) * (<f64>highest - <f64>lowest)
    ranges += range
    rangesSquared += range * range
    const middle = (<f64>lowest + <f64>highest) / 2
    const sum = f64x2.extract_lane(added, 0) + f64x2.extract_lane(added, 1)
    apart += middle * (<f64>(<i32>(width >> 2)) * middle - 2 * sum)
  }
  const error = f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1)
  apart += f64x2.extract_lane(squares, 0) + f64x2.extract_lane(squares, 1)
  const isUsual = error >= least * ranges && error <= most * ranges && rangesSquared <= 0.4 * ranges * ranges
  return !(isUsual && apart <= (<f64>(<i32>(width >> 2)) / 8) * ranges)
}
