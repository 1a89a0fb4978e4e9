// Which blocks of a K type hold values that are not as weights usually are (src/dtypes/ggml/unusual-blocks.ts has the reasons). Compiled, with a plain twin.
import { ggmlMap } from '../memory-map.js'
import { addressOf, ggmlModule, tileValues } from './compiled.js'
import type { DecodeBlocks } from './layouts.js'

/** By the bits of a code. */
export type BitsOfK = 2 | 3 | 4 | 5 | 6

/** Elements of a sub-block, and the errors between which those of usual values lie, as multiples of the sum of the squared ranges of the sub-blocks. */
interface Usual {
  readonly width: number
  readonly least: number
  readonly most: number
}

const usual: Readonly<Record<BitsOfK, Usual>> = {
  2: usualError(16, 3, 0.49, 0.66),
  3: usualError(16, 7, 0.6, 1.6),
  4: usualError(32, 15, 0.69, 0.86),
  5: usualError(32, 31, 0.7, 0.88),
  6: usualError(16, 63, 0.84, 2.5),
}

/** With so many steps in a range, values that are evenly spread between two codes leave a twelfth of the squared step: usual ones, so much of it. */
function usualError(width: number, steps: number, least: number, most: number): Usual {
  const even = width / (12 * steps * steps)
  return { width, least: least * even, most: most * even }
}

const elements = 256
const maxBlocks = 8192

/** A byte per block: 1 for unusual ones. `encoded` has the blocks of the values, `size` bytes each. */
export function markUnusual(
  bits: BitsOfK,
  size: number,
  values: Float32Array,
  encoded: Uint8Array,
  blocks: number,
  decode: DecodeBlocks,
): Uint8Array {
  const module = ggmlModule()
  if (!module) return markUnusualPlain(bits, size, values, encoded, blocks, decode)
  const { buffer, codes, run } = module
  const { least, most } = usual[bits]
  const isInArena = encoded.buffer === buffer && values.buffer === buffer
  const step = isInArena ? maxBlocks : tileValues / elements
  const marks = new Uint8Array(blocks)
  for (let first = 0; first < blocks; first += step) {
    const count = Math.min(step, blocks - first)
    const from = addressOf(values, first * elements, count * elements, module.values)
    if (!isInArena) codes.set(encoded.subarray(first * size, (first + count) * size))
    const at = isInArena ? encoded.byteOffset + first * size : codes.byteOffset
    run.markUnusual(from, at, size, count, bits, least, most)
    marks.set(new Uint8Array(buffer, ggmlMap.marks, count), first)
  }
  return marks
}

export function markUnusualPlain(
  bits: BitsOfK,
  size: number,
  values: Float32Array,
  encoded: Uint8Array,
  blocks: number,
  decode: DecodeBlocks,
): Uint8Array {
  const decoded = new Float32Array(elements)
  return Uint8Array.from({ length: blocks }, (_, block) => {
    decode(encoded.subarray(block * size, (block + 1) * size), decoded, 1)
    return isUnusual(values.subarray(block * elements, (block + 1) * elements), decoded, usual[bits]) ? 1 : 0
  })
}

/**
 * Whether a sub-block has values of one sign only, one or two have far larger ranges than the others, most values lie near the ends of the range of their
 * sub-block, or the error is unusual. Sums run over even and odd places, as in the compiled kernel.
 */
function isUnusual(values: Float32Array, decoded: Float32Array, { width, least, most }: Usual): boolean {
  let even = 0
  let odd = 0
  let ranges = 0
  let rangesSquared = 0
  let evenSquares = 0
  let oddSquares = 0
  let apart = 0
  for (let at = 0; at < elements; ) {
    let evenSum = 0
    let oddSum = 0
    let low = values[at]!
    let high = low
    for (const end = at + width; at < end; at += 2) {
      const [first, second] = [values[at]!, values[at + 1]!]
      even += Math.fround(first - decoded[at]!) ** 2
      odd += Math.fround(second - decoded[at + 1]!) ** 2
      evenSum += first
      oddSum += second
      evenSquares += first * first
      oddSquares += second * second
      low = Math.min(low, first, second)
      high = Math.max(high, first, second)
    }
    if (low >= 0 || high <= 0) return true
    const range = (high - low) ** 2
    ranges += range
    rangesSquared += range * range
    const middle = (low + high) / 2
    apart += middle * (width * middle - 2 * (evenSum + oddSum))
  }
  const error = even + odd
  apart += evenSquares + oddSquares
  return !(
    error >= least * ranges &&
    error <= most * ranges &&
    rangesSquared <= 0.4 * ranges * ranges &&
    apart <= (width / 8) * ranges
  )
}
