// Rounding to short floats and keeping NaN payloads, on bit patterns. An f32 without its sign is an integer that grows with the value, so most
// of the work is integer addition. No NaN passes through arithmetic: what a processor makes of its payload differs between machines.
import { bitsOf, littleEndianHost } from '../../bytes/views.js'

/** The f32 pattern for a NaN of unknown origin. */
export const quietNaN = 0x7fc00000
export const infinityBits = 0x7f800000

const highAt = littleEndianHost ? 1 : 0

const wordsOf = (values: Float64Array): Uint32Array =>
  new Uint32Array(values.buffer, values.byteOffset, values.length * 2)

/**
 * Rounds a finite magnitude, given as f32 bits without the sign, to a float with `mantissaBits` and `bias`: to nearest, ties to even.
 * The result is the code without the sign. It may exceed the largest code of the type; the caller deals with that.
 */
export function narrowMagnitude(magnitude: number, mantissaBits: number, bias: number): number {
  const shift = 23 - mantissaBits
  if (magnitude >= (128 - bias) << 23) {
    const rebased = magnitude - ((127 - bias) << 23)
    return (rebased + (1 << (shift - 1)) - 1 + ((rebased >>> shift) & 1)) >>> shift
  }
  return narrowSubnormal(magnitude, shift, bias)
}

/** Below the smallest normal value of the target, codes count multiples of its smallest step. */
function narrowSubnormal(magnitude: number, shift: number, bias: number): number {
  const exponent = Math.max(magnitude >>> 23, 1)
  const mantissa = magnitude >>> 23 === 0 ? magnitude : (magnitude & 0x7fffff) | 0x800000
  const drop = shift + 128 - bias - exponent
  if (drop > 24) return 0
  const code = mantissa >>> drop
  const rest = mantissa - (code << drop)
  const half = 1 << (drop - 1)
  return rest > half || (rest === half && code % 2 === 1) ? code + 1 : code
}

/**
 * f64 to f32 patterns so that a second rounding, to fewer bits, gives the result of a single one: a value between two f32 is truncated and
 * its last bit set ("round to odd"), so it can never look like a tie. Valid for targets of up to 22 significant bits.
 */
export function roundToOdd(source: Float64Array, bits: Uint32Array): void {
  const words = wordsOf(source)
  for (let i = 0; i < source.length; i++) {
    const high = words[2 * i + highAt]!
    const low = words[2 * i + 1 - highAt]!
    const magnitude = high & 0x7fffffff
    if (magnitude >= 0x38100000 && magnitude < 0x47f00000) {
      const sticky = (low & 0x1fffffff) === 0 ? 0 : 1
      bits[i] = (high & 0x80000000) | ((magnitude - 0x38000000) << 3) | (low >>> 29) | sticky
    } else bits[i] = roundRareToOdd(source[i]!)
  }
}

/** Values outside the normal range of f32: zero, the very small, the very large, infinity and NaN. */
function roundRareToOdd(value: number): number {
  if (Number.isNaN(value)) return quietNaN
  const rounded = Math.fround(value)
  const bits = f32Bits(rounded)
  if (rounded === value) return bits
  return (Math.abs(rounded) > Math.abs(value) ? bits - 1 : bits) | 1
}

const scratch = new DataView(new ArrayBuffer(4))

/** The f32 pattern of a number that is not NaN. */
export function f32Bits(value: number): number {
  scratch.setFloat32(0, value)
  return scratch.getUint32(0)
}

/** Copies f32 values to `target` from index `at` on. The payload of a NaN moves to the top of the longer mantissa. */
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

/** Writes the f32 patterns of those values that are NaN: sign and leading payload, never infinity. */
export function narrowNaNs(source: Float64Array, bits: Uint32Array): void {
  const words = wordsOf(source)
  for (let i = 0; i < source.length; i++) {
    if (!Number.isNaN(source[i]!)) continue
    const high = words[2 * i + highAt]!
    const payload = ((high & 0xfffff) << 3) | (words[2 * i + 1 - highAt]! >>> 29)
    bits[i] = ((high & 0x80000000) | (payload === 0 ? quietNaN : infinityBits | payload)) >>> 0
  }
}
