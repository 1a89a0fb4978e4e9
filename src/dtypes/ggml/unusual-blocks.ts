// The encoders of the K types search for the codes and scales that leave the least error in weights as they usually are. ggml's search differs, and on
// other values it is sometimes luckier: on values around two points, on values of one sign, where one is far larger than the others, and where a
// block can be stored almost exactly, so that it is no longer the codes that decide but how its scale happens to be rounded. Such blocks are
// encoded both ways, and the better result is kept. Few blocks of trained weights are among them.
import { bitsOf } from '../../bytes/views.js'
import {
  type BlockLayout,
  blockBytes,
  type DecodeBlocks,
  type EncodeBlocks,
  type EncodeRow,
} from '../../kernels/ggml/layouts.js'
import { type BitsOfK, markUnusual } from '../../kernels/ggml/unusual.js'

const maxLevels = 16

/** `own`, or `other` for unusual blocks where that has less error. */
export function betterOnUnusual(
  layout: BlockLayout,
  bits: BitsOfK,
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
    const patterns = bitsOf(source)
    const marks = markUnusual(bits, size, source, target, blocks, decode)
    for (let block = 0; block < blocks; block++) {
      if (!marks[block] && !hasFewLevels(patterns, block * elements, elements)) continue
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
