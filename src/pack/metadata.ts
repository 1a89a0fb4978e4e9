// Metadata entries: a plain value, whose type is inferred, or an object that states more.

import type { DType } from '../dtypes/index.js'
import { bool } from '../dtypes/index.js'
import { type FloatType, type IntegerType, type MetaValue, readPayload, text } from '../model/index.js'
import { rowMajor } from '../transforms/reorder.js'
import { packCodes } from './codes.js'
import { type FileArray, type FileContext, readDataFile } from './data-file.js'
import { readElementType } from './element-type.js'
import { describe, type Field, fail, isObject, knownMembers } from './field.js'
import { encodeField, shapeOfValues } from './inline.js'
import { readShape, type Shape, type SizeVariables } from './shape.js'
import { readValues, smallestScalarType, smallestType } from './values.js'

/** Metadata is kept in memory; larger values should be tensors. */
const maxFileBytes = 64 << 20

export interface MetadataContext extends FileContext {
  readonly sizes: SizeVariables
}

export async function packMetadata(key: string, field: Field, context: MetadataContext): Promise<MetaValue> {
  if (!isObject(field.value)) return packValue(field, undefined, undefined)
  const members = knownMembers(field, ['value', 'dtype', 'shape', 'bitset', 'file', 'member'])
  const given = ['value', 'bitset', 'file'].filter((name) => members.has(name as 'value'))
  if (given.length > 1) fail(field, packCodes.conflict, `${given.join(' and ')} exclude each other`)
  const bits = members.get('bitset')
  if (bits) {
    if (members.size > 1) fail(field, packCodes.conflict, 'a bitset has no dtype and no shape')
    return packBitset(bits)
  }
  const shape = readShape(members.get('shape'), context.sizes)
  const [file, member] = [members.get('file'), members.get('member')]
  const dtype = members.get('dtype')
  if (file)
    return packFile(
      await readDataFile(file, { dtype: readElementType(dtype), shape, member, name: key }, context),
      file,
      context,
    )
  if (member) fail(member, packCodes.missing, 'of which file? name it with file:')
  const value = members.get('value') ?? fail(field, packCodes.missing, 'there is no value; fill it in')
  return packValue(value, dtype, shape)
}

function packValue(field: Field, dtypeField: Field | undefined, shape: Shape | undefined): MetaValue {
  const { value } = field
  if (value === null) return fail(field, packCodes.missing, 'there is no value; fill it in')
  const isText = typeof value === 'string' && (dtypeField === undefined || dtypeField.value === 'str')
  if (isText) {
    if (shape) fail(shape.field, packCodes.conflict, 'a text has no shape')
    return text(value)
  }
  if (dtypeField?.value === 'str') fail(field, packCodes['value-range'], `${describe(value)} is not text`)
  const dtype = readElementType(dtypeField)
  const values = readValues(field)
  if (values.shape.length === 0 && !shape) return scalar(field, dtype ?? smallestScalarType(field, values), values)
  const type = dtype ?? smallestType(field, values)
  const dims = shapeOfValues(values, shape)
  return { type: 'ndarray', dtype: type, shape: dims, value: encodeField(field, type, values) }
}

const integerTypes: ReadonlySet<string> = new Set<IntegerType>([
  ...(['u8', 'u16', 'u32', 'u64', 'i8', 'i16', 'i32', 'i64'] as const),
  ...(['u4', 'u2', 'u1', 'i4', 'i2', 'i1', 't2', 't1'] as const),
])
const floatTypes: ReadonlySet<string> = new Set<FloatType>(['f16', 'bf16', 'f8_e5m2', 'f32', 'f64'])

/** The value as it will be read back: rounded to its type. */
function scalar(field: Field, dtype: DType, values: ReturnType<typeof readValues>): MetaValue {
  const bytes = encodeField(field, dtype, values)
  const value = dtype.codec!.element(bytes, 0)
  if (dtype === bool) return { type: 'bool', value: value as boolean }
  if (integerTypes.has(dtype.id)) return { type: dtype.id as IntegerType, value: value as number | bigint }
  if (floatTypes.has(dtype.id)) return { type: dtype.id as FloatType, value: value as number }
  return fail(field, packCodes.dtype, `a single ${dtype.id} has no place in metadata; write a list of one`)
}

/** Bit 0 first, in the lowest bit of the first byte. */
function packBitset(field: Field): MetaValue {
  const { value } = field
  const bits: readonly unknown[] | undefined =
    typeof value === 'string' ? [...value] : Array.isArray(value) ? value : undefined
  if (!bits) return fail(field, packCodes.bitset, `expected a list or text of zeros and ones, not ${describe(value)}`)
  const bytes = new Uint8Array(Math.ceil(bits.length / 8))
  for (const [i, bit] of bits.entries()) {
    const isSet = bit === 1 || bit === true || bit === '1' || bit === 1n
    if (!isSet && bit !== 0 && bit !== false && bit !== '0' && bit !== 0n)
      fail({ ...field, path: `${field.path}[${i}]` }, packCodes.bitset, `expected 0 or 1, not ${describe(bit)}`)
    if (isSet) bytes[Math.floor(i / 8)]! += 2 ** (i % 8)
  }
  return { type: 'bitset', bits: bits.length, value: bytes }
}

async function packFile(array: FileArray, field: Field, context: MetadataContext): Promise<MetaValue> {
  if (array.data!.byteLength > maxFileBytes)
    fail(field, packCodes['too-large'], `metadata of ${array.data!.byteLength} bytes; make it a tensor`)
  const { data } = rowMajor({ ...array, name: field.path, role: 'weight' })
  const value = await readPayload(data!, context.signal)
  return { type: 'ndarray', dtype: array.dtype, shape: array.shape, value }
}
