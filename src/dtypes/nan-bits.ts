// NaN between f32 and f64, bit by bit. What a processor makes of a NaN's payload when it converts differs between machines, and a signalling
// NaN never survives; so the few elements that are NaN are written again from their bits. The payload moves with the top of the mantissa.
import { infinityBits, quietNaN } from './float-rounding.js'
import { bitsOf, littleEndianHost } from './views.js'

const highAt = littleEndianHost ? 1 : 0

const wordsOf = (values: Float64Array): Uint32Array =>
  new Uint32Array(values.buffer, values.byteOffset, values.length * 2)

/** Sets `target` to the values of `source`, from `at` on. */
export function widenToF64(source: Float32Array, target: Float64Array, at = 0): void {
  target.set(source, at)
  const bits = bitsOf(source)
  const words = wordsOf(target)
  for (let i = 0; i < bits.length; i++) {
    const pattern = bits[i]!
    if ((pattern & 0x7fffffff) <= infinityBits) continue
    words[2 * (at + i) + highAt] = (pattern & 0x80000000) | 0x7ff00000 | ((pattern & 0x7fffff) >>> 3)
    words[2 * (at + i) + 1 - highAt] = pattern << 29
  }
}

/** Writes the patterns of those values that are NaN: sign and leading payload, and never infinity. */
export function narrowNaNs(source: Float64Array, bits: Uint32Array): void {
  const words = wordsOf(source)
  for (let i = 0; i < source.length; i++) {
    if (!Number.isNaN(source[i]!)) continue
    const high = words[2 * i + highAt]!
    const payload = ((high & 0xfffff) << 3) | (words[2 * i + 1 - highAt]! >>> 29)
    bits[i] = ((high & 0x80000000) | (payload === 0 ? quietNaN : infinityBits | payload)) >>> 0
  }
}
