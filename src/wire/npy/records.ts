// Record types of NPY headers: a list of fields, `[('x', '<f4'), ('y', '<i2', (3,))]`. A field is a name, a type and perhaps a shape; the
// type can be a record itself. Fields follow each other without space; a gap in a record is a field without a name.
import { countElements, toSafe } from '../../bytes/index.js'
import { npyHeaderCodes as codes } from './codes.js'
import type { PythonValue } from './python-literal.js'
import { type ElementType, kindNames, parseElementType, type TypeText } from './types.js'

/** One field of plain elements. Where fields are records again, their names are joined by dots. */
export interface RecordField extends ElementType {
  readonly name: string
  /** Where it begins in a record. */
  readonly offset: number
  /** The dimensions that it has in each record, and the bytes from one element to the next along each. */
  readonly shape: readonly number[]
  readonly strides: readonly number[]
}

export interface RecordType {
  readonly fields: readonly RecordField[]
  readonly itemSize: number
}

const path = 'header.descr'

/** The type of a record, or of a field: fields without a name are those of a plain type. */
export function parseRecordType(value: PythonValue, text: TypeText): RecordType {
  const { fields, itemSize } = parseType(value, text)
  const names = new Set<string>()
  for (const { name } of fields) {
    if (names.has(name)) text.fail(codes.structured, value.at, path, `two fields are called ${JSON.stringify(name)}`)
    names.add(name)
  }
  if (fields.length === 0) text.fail(codes.structured, value.at, path, 'the records have no fields')
  return { fields, itemSize }
}

function parseType(value: PythonValue, text: TypeText): RecordType {
  if (value.kind === 'list') return parseFields(value.items, text)
  if (value.kind === 'tuple') {
    const [type, shape] = value.items
    if (value.items.length !== 2 || !type || !shape)
      return text.fail(codes.structured, value.at, path, 'a type and a shape were expected')
    return repeated(parseType(type, text), parseShape(shape, text), value.at, text)
  }
  const type = parseElementType(value, text, path)
  return { fields: [{ name: '', offset: 0, shape: [], strides: [], ...type }], itemSize: type.itemSize }
}

function parseFields(items: readonly PythonValue[], text: TypeText): RecordType {
  const fields: RecordField[] = []
  let itemSize = 0
  for (const item of items) {
    const [given, type, shape] = item.kind === 'tuple' ? item.items : []
    if (!given || !type || (item.kind === 'tuple' && item.items.length > 3))
      return text.fail(codes.structured, item.at, path, 'a field of name, type and perhaps shape was expected')
    const name = fieldName(given, text)
    const one = parseType(type, text)
    const all = shape ? repeated(one, parseShape(shape, text), item.at, text) : one
    const isGap = name === '' && all.fields.every((each) => each.name === '' && /V/.test(each.descr))
    for (const each of isGap ? [] : all.fields)
      fields.push({ ...each, name: each.name === '' ? name : `${name}.${each.name}`, offset: itemSize + each.offset })
    itemSize += all.itemSize
    if (!Number.isSafeInteger(itemSize)) text.fail(codes['shape-overflow'], item.at, path, 'a record is too large')
  }
  return { fields, itemSize }
}

/** A name, or a title and a name. */
function fieldName(value: PythonValue, text: TypeText): string {
  const given = value.kind === 'tuple' ? value.items[1] : value
  if (given?.kind === 'string') return given.value
  return text.fail(codes.structured, value.at, path, `the name of a field is ${kindNames[value.kind]}`)
}

function parseShape(value: PythonValue, text: TypeText): number[] {
  const items = value.kind === 'tuple' || value.kind === 'list' ? value.items : [value]
  return items.map((item) => {
    const size = item.kind === 'int' ? toSafe(item.value) : undefined
    return size ?? text.fail(codes.structured, item.at, path, 'a dimension of a field is not a usable number')
  })
}

/** A type that is repeated for every element of a shape. */
function repeated({ fields, itemSize }: RecordType, shape: readonly number[], at: number, text: TypeText): RecordType {
  const count = shape.includes(0) ? 0 : countElements(shape)
  const size = (count ?? Number.POSITIVE_INFINITY) * itemSize
  if (!Number.isSafeInteger(size))
    return text.fail(codes['shape-overflow'], at, path, `[${shape.join(', ')}] is more than any file can hold`)
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((product, dim) => product * dim, itemSize))
  return {
    itemSize: size,
    fields: fields.map((each) => ({
      ...each,
      shape: [...shape, ...each.shape],
      strides: [...strides, ...each.strides],
    })),
  }
}
