// Scales are stored as f16. Decoders look their values up, encoders round to nearest even.
import { bitsOf } from '../../../bytes/views.js'
import { infinityBits, narrowMagnitude } from '../../numbers/float-bits.js'
import { f16Patterns } from '../../numbers/plain/convert.js'

let table: Float32Array | undefined

/** The value of an f16 code. */
export function f16Value(code: number): number {
  table ??= new Float32Array(f16Patterns().buffer)
  return table[code]!
}

/** The f16 at an offset. */
export const f16At = (source: Uint8Array, at: number): number => f16Value(source[at]! | (source[at + 1]! << 8))

const one = new Float32Array(1)
const oneBits = bitsOf(one)

/** Writes `value` as f16, NaN with one pattern, and returns what a reader will see. */
export function putF16(target: Uint8Array, offset: number, value: number): number {
  one[0] = value
  const magnitude = oneBits[0]! & 0x7fffffff
  const sign = (oneBits[0]! >>> 16) & 0x8000
  const code =
    magnitude > infinityBits ? 0x7e00 : sign | (magnitude < 0x47800000 ? narrowMagnitude(magnitude, 10, 15) : 0x7c00)
  target[offset] = code
  target[offset + 1] = code >>> 8
  return f16Value(code)
}

/**
 * The same for the step of sub-block scales. f16 subnormals are coarse: rounded down, a step would leave the largest scale out of reach, or
 * everything at zero; so these round away from zero.
 */
export function putStepF16(target: Uint8Array, offset: number, value: number): number {
  const isCoarse = value !== 0 && Math.abs(value) < 2 ** -14
  return putF16(target, offset, isCoarse ? Math.sign(value) * Math.ceil(Math.abs(value) * 2 ** 24) * 2 ** -24 : value)
}
