// Scales are stored as f16. Decoders look them up, encoders round them to nearest even.
import { infinityBits, narrowMagnitude } from '../float-rounding.js'
import { f16 } from '../floats.js'
import { bitsOf } from '../views.js'

let table: Float32Array | undefined

/** The value of every f16 code. */
export function halfValues(): Float32Array {
  if (!table) {
    const codes = new Uint8Array(65536 * 2)
    for (let code = 0; code < 65536; code++) {
      codes[2 * code] = code
      codes[2 * code + 1] = code >>> 8
    }
    table = new Float32Array(65536)
    f16.codec!.toF32(codes, table)
  }
  return table
}

const one = new Float32Array(1)
const oneBits = bitsOf(one)

/** Writes `value` as f16 and returns what a reader will see. */
export function putHalf(target: Uint8Array, offset: number, value: number): number {
  one[0] = value
  const magnitude = oneBits[0]! & 0x7fffffff
  const sign = (oneBits[0]! >>> 16) & 0x8000
  const code =
    sign | (magnitude < 0x47800000 ? narrowMagnitude(magnitude, 10, 15) : magnitude > infinityBits ? 0x7e00 : 0x7c00)
  target[offset] = code
  target[offset + 1] = code >>> 8
  return halfValues()[code]!
}

/**
 * The same for the step of sub-block scales. The smallest f16 are coarse: rounded down, a step would leave the largest scale out of
 * reach, or everything at zero; so these round away from zero.
 */
export function putStepHalf(target: Uint8Array, offset: number, value: number): number {
  const isCoarse = value !== 0 && Math.abs(value) < 2 ** -14
  return putHalf(target, offset, isCoarse ? Math.sign(value) * Math.ceil(Math.abs(value) * 2 ** 24) * 2 ** -24 : value)
}
