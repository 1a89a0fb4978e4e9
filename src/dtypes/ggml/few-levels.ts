// Blocks with few different values, such as constants, whole numbers or one value among zeros. Most of them can be stored almost exactly, and
// then it is no longer the codes that decide but how the block's scale happens to be rounded. Our encoders look for the best codes, so on such
// blocks ggml's is tried as well, and the better of both is kept.
import { bitsOf } from '../../bytes/views.js'
import {
  type BlockLayout,
  blockBytes,
  type DecodeBlocks,
  type EncodeBlocks,
  type EncodeRow,
} from '../../kernels/ggml/layouts.js'

const maxLevels = 16

/** `own`, or `other` for blocks of few levels where that has less error. */
export function betterOnFewLevels(
  layout: BlockLayout,
  own: EncodeBlocks,
  other: EncodeRow,
  decode: DecodeBlocks,
): EncodeBlocks {
  const { elements } = layout
  const size = blockBytes(layout)
  const bytes = new Uint8Array(size)
  const decoded = new Float32Array(elements)
  const errorOf = (block: Uint8Array, values: Float32Array): number => {
    decode(block, decoded, 1)
    return values.reduce((sum, value, i) => sum + (value - decoded[i]!) ** 2, 0)
  }
  return (source, target, blocks) => {
    own(source, target, blocks)
    const bits = bitsOf(source)
    for (let block = 0; block < blocks; block++) {
      if (!hasFewLevels(bits, block * elements, elements)) continue
      const values = source.subarray(block * elements, (block + 1) * elements)
      const made = target.subarray(block * size, (block + 1) * size)
      bytes.fill(0)
      other(values, bytes, undefined)
      if (errorOf(bytes, values) < errorOf(made, values)) made.set(bytes)
    }
  }
}

/** For each hash of a magnitude, the last block that had it. */
const seen = new Uint32Array(256)
let current = 0

/**
 * Whether there are at most sixteen magnitudes, not all of them zero. Hashes that differ belong to values that differ, so of ordinary values
 * about the first eighteen are looked at; values that share a hash by chance are counted as one.
 */
function hasFewLevels(bits: Uint32Array, from: number, length: number): boolean {
  current = (current + 1) >>> 0
  let count = 0
  let all = 0
  for (let i = from; i < from + length; i++) {
    const magnitude = bits[i]! & 0x7fffffff
    all |= magnitude
    const hash = Math.imul(magnitude, 0x9e3779b1) >>> 24
    if (seen[hash] === current) continue
    seen[hash] = current
    if (++count > maxLevels) return false
  }
  return all !== 0
}
