// The quantizer of the reference program, operation by operation: one scale per block from its largest magnitude, truncated to f16 for
// storing, and codes from the scale before that.
import { truncatedF16 } from './f16-scales'
import { blockMagnitude, largestCode } from './lanes'
import { encodeBlockAway } from './pack'

function scaleOf(values: usize, maxCode: f32): f32 {
  return blockMagnitude(values) / maxCode
}

/** `rows` rows of `perRow` blocks, the last of which has `tail` real columns. */
export function referenceBlocks(
  bits: i32,
  values: usize,
  rows: i32,
  perRow: i32,
  tail: i32,
  scales: usize,
  codes: usize,
): void {
  const maxCode = largestCode(bits)
  for (let row = 0; row < rows; row++) {
    for (let block = 0; block < perRow; block++) {
      const scale = scaleOf(values, maxCode)
      store<u16>(scales, <u16>truncatedF16(scale))
      encodeBlockAway(bits, values, scale, block === perRow - 1 ? tail : 32, bits === 4, codes)
      values += 128
      scales += 2
      codes += 4 * bits
    }
  }
}

export function referenceSupers(
  bits: i32,
  values: usize,
  rows: i32,
  perRow: i32,
  tail: i32,
  supers: usize,
  subScales: usize,
  codes: usize,
): void {
  const maxCode = largestCode(bits)
  for (let row = 0; row < rows; row++) {
    for (let first = 0; first < perRow; first += 8) {
      const count = min(8, perRow - first)
      let largest: f32 = 0
      for (let block = 0; block < count; block++) largest = max(largest, scaleOf(values + 128 * block, maxCode))
      store<u16>(supers, <u16>truncatedF16(largest))
      supers += 2
      for (let block = 0; block < count; block++) {
        const sub = subScaleFor(scaleOf(values, maxCode), largest)
        store<u8>(subScales, <u8>sub)
        const scale: f32 = largest * (<f32>sub / 32)
        encodeBlockAway(bits, values, scale, first + block === perRow - 1 ? tail : 32, false, codes)
        values += 128
        subScales += 1
        codes += 4 * bits
      }
    }
  }
}

/** Rounded with halves away from zero; at least 1 for a block that is not all zeros. */
export function subScaleFor(scale: f32, largest: f32): i32 {
  if (scale === 0) return 0
  const exact: f32 = (scale / largest) * 32
  return max(1, min(63, <i32>(exact + <f32>0.4999999701976776)))
}
