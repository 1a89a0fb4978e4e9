// Rounding to short floats, on the bit patterns of f32. An f32 without its sign is an integer that grows with the value, so most of
// the work is integer addition; nothing here lets a NaN pass through arithmetic.
import { littleEndianHost } from './views.js'

/** The f32 pattern that stands for "not a number" when nothing is known about its origin. */
export const quietNaN = 0x7fc00000
export const infinityBits = 0x7f800000

/**
 * Rounds a finite magnitude, given as f32 bits without the sign, to a float with `mantissaBits` and `bias`: to nearest, ties to even.
 * The result is the code without the sign; it counts on beyond the largest code of the type, and the caller deals with that.
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
 * f64 to f32 patterns so that a second rounding, to fewer bits, gives what one rounding would have given: a value between two f32 is cut
 * off and its last bit set ("round to odd"), so it can never look like a tie. Valid for targets of up to 22 significant bits.
 */
export function roundToOdd(source: Float64Array, bits: Uint32Array): void {
  const words = new Uint32Array(source.buffer, source.byteOffset, source.length * 2)
  const highAt = littleEndianHost ? 1 : 0
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

/** The values outside of f32's normal range: zero, the very small, the very large, infinity and NaN. */
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
