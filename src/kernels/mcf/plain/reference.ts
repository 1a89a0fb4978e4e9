// The reference program's quantizer in plain TypeScript, operation by operation in f32: a scale per block from its largest magnitude,
// truncated to f16 for storing, and codes from the scale before that.

import { blockValues, type CodeBits, codeLimits, largestCode, superBlocks, type TileShape } from '../tile.js'
import { truncatedF16 } from './f16-scales.js'
import { clamp, packBlock, roundAway } from './pack.js'

const { fround } = Math

export function blockMagnitude(values: Float32Array, block: number): number {
  let max = 0
  for (let i = block * blockValues; i < (block + 1) * blockValues; i++) max = Math.max(max, Math.abs(values[i]!))
  return max
}

export function referenceBlocksPlain(
  bits: CodeBits,
  values: Float32Array,
  { rows, perRow, tail }: TileShape,
  scales: Uint16Array,
  codes: Uint8Array,
): void {
  for (let block = 0; block < rows * perRow; block++) {
    const scale = fround(blockMagnitude(values, block) / largestCode(bits))
    scales[block] = truncatedF16(scale)
    const real = block % perRow === perRow - 1 ? tail : blockValues
    encodeBlock(bits, values, block, scale, bits === 4 ? real : blockValues, codes)
  }
}

export function referenceSupersPlain(
  bits: CodeBits,
  values: Float32Array,
  { rows, perRow }: TileShape,
  supers: Uint16Array,
  subScales: Uint8Array,
  codes: Uint8Array,
): void {
  let at = 0
  for (let first = 0; first < rows * perRow; first += Math.min(superBlocks, perRow - (first % perRow))) {
    const count = Math.min(superBlocks, perRow - (first % perRow))
    const scales = Array.from({ length: count }, (_, i) => {
      return fround(blockMagnitude(values, first + i) / largestCode(bits))
    })
    const largest = Math.max(...scales)
    supers[at++] = truncatedF16(largest)
    for (const [i, scale] of scales.entries()) {
      const sub = subScaleFor(scale, largest)
      subScales[first + i] = sub
      encodeBlock(bits, values, first + i, fround(largest * (sub / 32)), blockValues, codes)
    }
  }
}

/** At least 1 for a block that is not all zeros. */
export function subScaleFor(scale: number, largest: number): number {
  if (scale === 0) return 0
  return Math.max(1, Math.min(63, roundAway(fround(fround(scale / largest) * 32))))
}

/** Below 2^-128 the reference's quotients are infinite and become the lowest code, for the first `filled` columns. */
function encodeBlock(
  bits: CodeBits,
  values: Float32Array,
  block: number,
  scale: number,
  filled: number,
  codes: Uint8Array,
): void {
  const limits = codeLimits(bits, 'symmetric')
  const inverse = fround(1 / scale)
  const from = block * blockValues
  const list = new Int32Array(blockValues)
  if (scale > 0 && inverse === Infinity) list.fill(limits.low, 0, filled)
  else if (scale > 0)
    for (let i = 0; i < blockValues; i++) list[i] = roundAway(clamp(fround(values[from + i]! * inverse), limits))
  packBlock(bits, list, codes, block * 4 * bits)
}
