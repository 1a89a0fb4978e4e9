// Values to codes in plain TypeScript, and codes to bits: two's complement, the lowest bits of the first byte first.
import { blockValues, type CodeBits, type CodeSet, codeLimits, type Limits } from '../tile.js'

/** Adding and subtracting 1.5 · 2^23 rounds an f32 to the nearest whole number, ties to even. */
const bias = 12582912
const { fround } = Math

export const roundEven = (value: number): number => fround(fround(value + bias) - bias)

/** Rounds halves away from zero: adding the largest f32 below one half carries only those. */
export const roundAway = (value: number): number =>
  Math.trunc(fround(value + (value < 0 ? -0.4999999701976776 : 0.4999999701976776)))

export const clamp = (value: number, { low, high }: Limits): number => Math.max(Math.min(value, high), low)

export function encodePlain(
  bits: CodeBits,
  set: CodeSet,
  values: Float32Array,
  scales: Float32Array,
  codes: Uint8Array,
): void {
  const limits = codeLimits(bits, set)
  const block = new Int32Array(blockValues)
  for (let b = 0; b < scales.length; b++) {
    const inverse = fround(1 / scales[b]!)
    for (let i = 0; i < blockValues; i++) {
      const exact = fround(values[b * blockValues + i]! * inverse)
      block[i] = scales[b] === 0 ? 0 : roundEven(clamp(exact, limits))
    }
    packBlock(bits, block, codes, b * 4 * bits)
  }
}

export function packBlock(bits: CodeBits, block: Int32Array, codes: Uint8Array, at: number): void {
  let held = 0
  let count = 0
  for (const code of block) {
    held |= (code & ((1 << bits) - 1)) << count
    count += bits
    while (count >= 8) {
      codes[at++] = held
      held >>>= 8
      count -= 8
    }
  }
}
