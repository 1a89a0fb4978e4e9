// Numbers to the bytes of an element type. A float is rounded once, to nearest even; whatever the type has no place for is refused:
// an integer out of range is not wrapped, a fraction not cut off, a large float not turned into infinity.
import { type DType, isReal } from '../dtypes/index.js'
import { littleEndianHost } from '../dtypes/views.js'
import { integerRange, type Values } from './values.js'

/** An item that does not fit. */
export interface Misfit {
  readonly index: number
  readonly message: string
}

/** Whether numbers can be written as this type at all. */
export const isEncodable = (dtype: DType): boolean => isReal(dtype) && dtype.codec?.fromF64 !== undefined

export function encodeValues(dtype: DType, values: Pick<Values, 'items' | 'kind' | 'dtype'>): Uint8Array | Misfit {
  const { items, kind } = values
  if (values.dtype === dtype && littleEndianHost && ArrayBuffer.isView(items))
    return new Uint8Array(items.buffer, items.byteOffset, items.byteLength).slice()
  const bytes = new Uint8Array(dtype.byteLength([items.length])!)
  const refuse = (index: number): Misfit => ({ index, message: `${items[index]} does not fit ${dtype.id}` })
  if (kind === 'bool' && dtype.kind !== 'bool' && items.length > 0)
    return { index: 0, message: `a boolean is no ${dtype.id}; write 0 and 1` }
  if (dtype.kind !== 'float' && dtype.group.bytes === 8) {
    const bad = writeWide(dtype, items, bytes)
    return bad < 0 ? bytes : refuse(bad)
  }
  const numbers = Float64Array.from({ length: items.length }, (_, i) => Number(items[i]))
  const beyond = numbers.findIndex((number, i) => !Number.isFinite(number) && typeof items[i] === 'bigint')
  const bad = beyond < 0 ? encodeNumbers(dtype, numbers, bytes) : beyond
  return bad < 0 ? bytes : refuse(bad)
}

/** 64-bit integers, exactly. */
function writeWide(dtype: DType, items: ArrayLike<number | bigint>, bytes: Uint8Array): number {
  const [lowest, highest] = integerRange(dtype)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!
    if (typeof item === 'number' && !Number.isInteger(item)) return i
    const value = BigInt(item)
    if (value < lowest || value > highest) return i
    view.setBigUint64(8 * i, BigInt.asUintN(64, value), true)
  }
  return -1
}

/** The index of the first number that the type cannot hold, or -1. */
function encodeNumbers(dtype: DType, numbers: Float64Array, bytes: Uint8Array): number {
  const bad = dtype.codec!.fromF64!(numbers, bytes)
  if (bad >= 0 || dtype.kind !== 'float') return bad
  return numbers.findIndex((number, i) => !isKept(dtype, number, bytes, i))
}

/** Whether the encoder rounded a number, rather than replaced it by infinity, NaN, the largest or the smallest value. */
function isKept(dtype: DType, number: number, bytes: Uint8Array, index: number): boolean {
  const { lowest, highest, infinity, nan, zero } = dtype.values!
  if (Number.isNaN(number)) return nan === true
  if (!Number.isFinite(number)) return infinity === true
  if (zero === false && number < lowest) return false
  if (number >= lowest && number <= highest) return true
  return (infinity === true || nan === true) && Number.isFinite(dtype.codec!.element(bytes, index) as number)
}
