// Tensors: a list, a number or a typed array alone, or an object that states type, shape, quantization and the location of the data.
import { bytesPayload, type Tensor } from '../model/index.js'
import { packCodes } from './codes.js'
import { type FileArray, readDataFile } from './data-file.js'
import { readElementType } from './element-type.js'
import { describe, type Field, fail, isObject, knownMembers } from './field.js'
import { countOf, encodeField, shapeOfValues } from './inline.js'
import type { MetadataContext } from './metadata.js'
import { readQuant } from './quant.js'
import { readShape, type Shape } from './shape.js'
import { defaultType, readValues } from './values.js'

const tensorFields = ['dtype', 'shape', 'data', 'file', 'member', 'quant'] as const

type Members = ReadonlyMap<(typeof tensorFields)[number], Field>

export async function packTensor(name: string, field: Field, context: MetadataContext): Promise<Tensor> {
  const members = membersOfTensor(field)
  const shape = readShape(members.get('shape'), context.sizes)
  const array = await readArray(name, field, members, shape, context)
  const quant = readQuant(members.get('quant'), array.shape)
  return { name, ...array, role: 'weight', ...(quant && { quant }) }
}

function membersOfTensor(field: Field): Members {
  if (isObject(field.value)) return knownMembers(field, tensorFields)
  if (field.value === null)
    fail(field, packCodes.missing, 'for a tensor without data write its dtype and shape, and data: null')
  if (typeof field.value === 'string')
    fail(
      field,
      packCodes['field-type'],
      `expected data or an object, not ${describe(field.value)}; for a file write file:`,
    )
  return new Map([['data', field]])
}

async function readArray(
  name: string,
  field: Field,
  members: Members,
  shape: Shape | undefined,
  context: MetadataContext,
): Promise<FileArray> {
  const dtype = readElementType(members.get('dtype'))
  const [data, file, member] = [members.get('data'), members.get('file'), members.get('member')]
  if (data && file) fail(field, packCodes.conflict, 'data and file exclude each other')
  if (file) return readDataFile(file, { dtype, shape, member, name }, context)
  if (member) fail(member, packCodes.missing, 'of which file? name it with file:')
  if (!data)
    return fail(
      field,
      packCodes.missing,
      'there are no data: fill them in, name a file, or write data: null to leave them out',
    )
  if (data.value === null) {
    if (dtype && shape) return { dtype, shape: shape.dims, order: 'row', data: null }
    return fail(field, packCodes.missing, `a tensor without data needs its ${dtype ? 'shape' : 'dtype'}`)
  }
  const values = readValues(data)
  const type = dtype ?? defaultType(data, values)
  const dims = shapeOfValues(values, shape)
  if (countOf(dims) === undefined) fail(shape!.field, packCodes['shape-mismatch'], 'the shape is too large')
  return { dtype: type, shape: dims, order: 'row', data: bytesPayload(encodeField(data, type, values)) }
}
