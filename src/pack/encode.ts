// Encodes numbers as an element type. Floats are rounded once, to nearest even. Whatever the type cannot represent is refused: integers out
// of range are not wrapped, fractions not truncated, large floats not turned into infinity.

import { littleEndianHost } from '../bytes/views.js'
import { type DType, isReal } from '../dtypes/index.js'
import { integerRange, type Values } from './values.js'

/** An item that does not fit. */
export interface Misfit {
  readonly index: number
  readonly message: string
}

/** Whether single numbers can be written as this type. Values in a block depend on each other; writing them is quantizing. */
export const isEncodable = (dtype: DType): boolean =>
  isReal(dtype) && dtype.kind !== 'block' && dtype.codec?.fromF64 !== undefined

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
  const numbers = items instanceof Float64Array ? items : toNumbers(items)
  const beyond = items instanceof Float64Array ? -1 : findBeyond(items, numbers)
  const bad = beyond < 0 ? encodeNumbers(dtype, numbers, bytes) : beyond
  return bad < 0 ? bytes : refuse(bad)
}

function toNumbers(items: ArrayLike<number | bigint>): Float64Array {
  const numbers = new Float64Array(items.length)
  for (let i = 0; i < numbers.length; i++) numbers[i] = Number(items[i])
  return numbers
}

/** An integer so large that it is infinite as a number. */
const findBeyond = (items: ArrayLike<number | bigint>, numbers: Float64Array): number =>
  numbers.findIndex((number, i) => !Number.isFinite(number) && typeof items[i] === 'bigint')

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
  const { lowest, highest } = dtype.values!
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]!
    if (!(number >= lowest && number <= highest) && !isKept(dtype, number, bytes, i)) return i
  }
  return -1
}

/** Whether the encoder kept a number outside of the range, rather than replacing it by infinity, NaN or an extreme value. */
function isKept(dtype: DType, number: number, bytes: Uint8Array, index: number): boolean {
  const { lowest, infinity, nan, zero } = dtype.values!
  if (Number.isNaN(number)) return nan === true
  if (!Number.isFinite(number)) return infinity === true
  if (zero === false && number < lowest) return false
  return (infinity === true || nan === true) && Number.isFinite(dtype.codec!.element(bytes, index) as number)
}
