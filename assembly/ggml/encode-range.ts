// Encoders for blocks of 32 from the smallest value up to the largest: Q4_1, and Q5_1 with fifth bits apart.
import { cutAt, putFifthBits, putLowBits } from './cut'
import { putHalf } from './lanes'

export function encodeQ4_1(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const smallest = smallestOf(source)
    const scale = (largestOf(source) - smallest) / 15
    putHalf(target, scale)
    putHalf(target + 2, smallest)
    putLowBits(target + 4, cutAt(source, smallest, scale, 0.5, 15), cutAt(source + 64, smallest, scale, 0.5, 15))
    source += 128
    target += 20
  }
}

export function encodeQ5_1(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const smallest = smallestOf(source)
    const scale = (largestOf(source) - smallest) / 31
    putHalf(target, scale)
    putHalf(target + 2, smallest)
    const first = cutAt(source, smallest, scale, 0.5, 31)
    const second = cutAt(source + 64, smallest, scale, 0.5, 31)
    putFifthBits(target + 4, first, second)
    putLowBits(target + 8, first, second)
    source += 128
    target += 24
  }
}

/** Of zeros with both signs the first counts. */
function smallestOf(values: usize): f32 {
  let least = v128.load(values)
  for (let at: usize = 16; at < 128; at += 16) least = f32x4.pmin(least, v128.load(values + at))
  least = f32x4.pmin(least, i32x4.shuffle(least, least, 2, 3, 0, 1))
  const found = f32x4.extract_lane(f32x4.pmin(least, i32x4.shuffle(least, least, 1, 0, 3, 2)), 0)
  if (found !== 0) return found
  while (load<f32>(values) !== 0) values += 4
  return load<f32>(values)
}

/** The sign of a zero matters only where there are only zeros; then it is that of the first, too. */
function largestOf(values: usize): f32 {
  let most = v128.load(values)
  for (let at: usize = 16; at < 128; at += 16) most = f32x4.pmax(most, v128.load(values + at))
  most = f32x4.pmax(most, i32x4.shuffle(most, most, 2, 3, 0, 1))
  return f32x4.extract_lane(f32x4.pmax(most, i32x4.shuffle(most, most, 1, 0, 3, 2)), 0)
}
