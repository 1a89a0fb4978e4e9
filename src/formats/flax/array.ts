// Arrays as Flax packs them: an extension value that holds MessagePack again, a list of shape, name of the type, and bytes.
import { countElements, decodeLossy } from '../../bytes/index.js'
import { type DType, dtypeById, packed } from '../../dtypes/index.js'
import { type MsgpackReader, nameOf } from '../../wire/msgpack/index.js'
import type { codes } from './codes.js'

/** Extension types of arrays and of NumPy's scalars, which are packed alike. */
export const arrayTypes: readonly number[] = [1, 3]
export const complexType = 2

/** A map with this key is an array that was too long for one value. */
export const chunkedKey = '__msgpack_chunked_array__'

/** NumPy allows no more. */
const maxDims = 64
const maxTypeName = 64

const types: Readonly<Record<string, string>> = {
  ...{ float16: 'f16', float32: 'f32', float64: 'f64', bfloat16: 'bf16' },
  ...{ int8: 'i8', int16: 'i16', int32: 'i32', int64: 'i64' },
  ...{ uint8: 'u8', uint16: 'u16', uint32: 'u32', uint64: 'u64', bool: 'bool' },
  ...{ complex64: 'c64', complex128: 'c128' },
  ...{ float8_e4m3fn: 'f8_e4m3', float8_e5m2: 'f8_e5m2', float8_e8m0fnu: 'f8_e8m0' },
  ...{ float8_e4m3fnuz: 'f8_e4m3fnuz', float8_e5m2fnuz: 'f8_e5m2fnuz' },
}

/** Types of JAX that take a byte for each element, in a form that no other container has. */
const byteTypes = /^(u?int[124]|float4_e2m1fn|float6_e[23]m[23]fn|float8_e3m4|float8_e4m3|float8_e4m3b11fnuz)$/

export interface StoredArray {
  readonly dtype: DType
  /** As NumPy calls it. */
  readonly typeName: string
  /** Bytes of an element. */
  readonly itemSize: number
  readonly shape: readonly number[]
  readonly offset: number
  readonly length: number
}

/** What is wrong with an array; the values behind it can still be read. */
export interface BadArray {
  readonly code: keyof typeof codes
  readonly offset: number
  readonly message: string
}

/** Reads all but the bytes, which end where the value does. The reader is left anywhere in it. */
export function readArray(reader: MsgpackReader, end: number): StoredArray | BadArray {
  const start = reader.offset
  const wrong = (code: BadArray['code'], message: string, offset = start): BadArray => ({ code, offset, message })
  if (reader.next() !== 'array' || reader.length !== 3) return wrong('array', 'it is not a list of three values')
  const shapeAt = reader.offset
  if (reader.next() !== 'array') return wrong('array', 'its shape is not a list', shapeAt)
  const dims = reader.length
  if (dims > maxDims) return wrong('shape', `it has ${dims} dimensions, more than ${maxDims}`, shapeAt)
  const shape: number[] = []
  for (let axis = 0; axis < dims; axis++) {
    const at = reader.offset
    const kind = reader.next()
    if (kind !== 'int') return wrong('shape', `dimension ${axis} is ${nameOf(kind)}`, at)
    const { value } = reader
    if (typeof value === 'bigint' || value < 0) return wrong('shape', `dimension ${axis} is ${value}`, at)
    shape.push(value)
  }
  const typeAt = reader.offset
  const kind = reader.next()
  if (kind !== 'str' && kind !== 'bin') return wrong('array', `the name of its type is ${nameOf(kind)}`, typeAt)
  if (reader.length > maxTypeName) return wrong('dtype', `its name has ${reader.length} bytes`, typeAt)
  const typeName = decodeLossy(reader.take(reader.length))
  const dtype = dtypeOf(typeName)
  if (!dtype) return wrong('dtype', `there is no number type ${JSON.stringify(typeName)}`, typeAt)
  const dataAt = reader.offset
  const content = reader.next()
  // Before version 1.0, the Python package for MessagePack wrote bytes like texts.
  if (content !== 'bin' && content !== 'str') return wrong('array', `its content is ${nameOf(content)}`, dataAt)
  const { offset, length } = reader
  if (offset + length !== end) return wrong('array', `its bytes end at ${offset + length}, the value at ${end}`, dataAt)
  const count = countElements(shape)
  if (count === undefined) return wrong('shape', `[${shape.join(', ')}] is larger than any file`, shapeAt)
  const itemSize = dtype.group.bytes
  if (count * itemSize !== length) {
    const message = `[${shape.join(', ')}] of ${typeName} takes ${count * itemSize} bytes, ${length} are there`
    return wrong('size', message, dataAt)
  }
  return { dtype, typeName, itemSize, shape, offset, length }
}

function dtypeOf(name: string): DType | undefined {
  if (Object.hasOwn(types, name)) return dtypeById(types[name]!)
  return byteTypes.test(name) ? packed : undefined
}
