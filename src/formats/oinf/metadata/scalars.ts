// One number as bytes, exactly. Floats keep their bits where a number cannot (NaN); packed types take the low bits of one byte.
import type { DType } from '../../../dtypes/index.js'
import type { FloatType, IntegerType, MetaValue } from '../../../model/index.js'
import { isPacked } from '../types.js'

export type ScalarValue = Extract<MetaValue, { type: IntegerType | FloatType | 'bool' }>

/** Bytes of a value without padding; a packed one takes a whole byte. */
export const scalarSize = (dtype: DType): number => dtype.group.bytes

export function readScalar(dtype: DType, bytes: Uint8Array): ScalarValue {
  const value = dtype.codec!.element(bytes, 0)
  if (dtype.kind === 'bool') return { type: 'bool', value: Boolean(value) }
  if (dtype.kind !== 'float') return { type: dtype.id as IntegerType, value: value as number | bigint }
  const number = value as number
  const type = dtype.id as FloatType
  return Number.isNaN(number) ? { type, value: number, bits: littleEndian(bytes) } : { type, value: number }
}

function littleEndian(bytes: Uint8Array): bigint {
  let bits = 0n
  for (let i = bytes.byteLength - 1; i >= 0; i--) bits = bits * 256n + BigInt(bytes[i]!)
  return bits
}

/** The bytes, or undefined when the type cannot hold the value. */
export function writeScalar(dtype: DType, value: ScalarValue): Uint8Array | undefined {
  const bytes = new Uint8Array(scalarSize(dtype))
  if ('bits' in value && value.bits !== undefined) {
    for (let i = 0; i < bytes.byteLength; i++) bytes[i] = Number((value.bits >> BigInt(8 * i)) & 255n)
    return bytes
  }
  if (isPacked(dtype)) return writePacked(dtype, Number(value.value))
  if (dtype.id === 'i64' || dtype.id === 'u64') {
    const whole = typeof value.value === 'bigint' ? value.value : toBigInt(Number(value.value))
    if (whole === undefined) return undefined
    new DataView(bytes.buffer).setBigUint64(0, BigInt.asUintN(64, whole), true)
    return dtype.codec!.element(bytes, 0) === whole ? bytes : undefined
  }
  return dtype.codec!.fromF64!(Float64Array.of(Number(value.value)), bytes) < 0 ? bytes : undefined
}

const toBigInt = (value: number): bigint | undefined => (Number.isInteger(value) ? BigInt(value) : undefined)

/** Looks the code up among the few that there are, so that the fourth code of t2 survives a round trip. */
function writePacked(dtype: DType, value: number): Uint8Array | undefined {
  const bits = 8 / dtype.group.elements
  for (let code = 0; code < 2 ** bits; code++) {
    const bytes = Uint8Array.of(code)
    if (dtype.codec!.element(bytes, 0) === value) return bytes
  }
  return undefined
}
