// Attributes: small values with a name, at groups and datasets. Keras keeps there what is not weights: its version, the configuration of the
// model, the names of layers and weights.
import { alignUp, type Cursor, decodeLossy, elementsIn } from '../../bytes/index.js'
import { hdf5Codes as codes } from './codes.js'
import { readDataspace } from './dataspace.js'
import { type ElementType, readDatatype } from './datatype.js'
import { readDense } from './dense.js'
import type { Hdf5File } from './file.js'
import { checkedName, type TextHeap } from './heaps.js'
import { fieldsOf, type Message, type ObjectHeader } from './object.js'

export interface Attribute {
  readonly name: string
  readonly type: ElementType
  readonly shape: readonly number[]
  /** One for each element; the type of the attribute is then a text. */
  readonly texts?: readonly string[]
  /** The elements, as they are stored. */
  readonly bytes?: Uint8Array
}

export async function attributesOf(file: Hdf5File, object: ObjectHeader, texts: TextHeap): Promise<Attribute[]> {
  const found: Attribute[] = []
  for (const message of [...object.all('attribute'), ...(await denseAttributes(file, object))]) {
    const attribute = await readAttribute(file, message, texts)
    if (attribute) found.push(attribute)
  }
  return found
}

async function denseAttributes(file: Hdf5File, object: ObjectHeader): Promise<Message[]> {
  const info = object.find('attributeInfo')
  if (!info) return []
  const cursor = fieldsOf(file, info)
  file.version(cursor, [0])
  if (cursor.u8('flags') & 1) cursor.u16('max_order')
  const heap = file.address(cursor, 'heap')
  const names = file.address(cursor, 'names')
  if (heap === undefined || names === undefined) return []
  return readDense(file, heap, names, { type: 8, idOffset: 0, idLength: 8 }, info.path)
}

async function readAttribute(file: Hdf5File, message: Message, heap: TextHeap): Promise<Attribute | undefined> {
  const unread = (name: string, why: string): undefined => {
    const { offset, path } = message
    file.report.report(codes['attribute-unread'], { offset, path, message: `${JSON.stringify(name)}: ${why}` })
  }
  if (message.isShared) return unread('', 'it is shared between objects')
  const cursor = fieldsOf(file, message)
  const version = file.version(cursor, [1, 2, 3])
  const flags = cursor.u8('flags')
  const sizes = { name: cursor.u16('name_size'), type: cursor.u16('type_size'), space: cursor.u16('space_size') }
  if (version === 3) cursor.u8('charset')
  /** Up to version 1, each is padded to a multiple of eight. */
  const piece = (length: number, field: string): Message => {
    const { offset } = cursor
    const data = cursor.raw(version === 1 ? alignUp(length, 8) : length, field).subarray(0, length)
    return { ...message, data, offset, path: `${message.path}.${field}` }
  }
  const named = piece(sizes.name, 'name')
  const end = named.data.indexOf(0)
  const name = checkedName(file, named.data.subarray(0, end < 0 ? undefined : end), named.offset, named.path)
  const typed = piece(sizes.type, 'type')
  if (version > 1 && flags & 3) return unread(name, 'its type is kept elsewhere')
  const type = readDatatype(file, fieldsOf(file, typed))
  const shape = readDataspace(file, fieldsOf(file, piece(sizes.space, 'space')))?.shape
  if (!shape) return unread(name, 'it has no value')
  const length = elementsIn(shape)! * type.size
  if (length > cursor.remaining) {
    const details = { offset: cursor.offset, path: message.path }
    file.report.fail(codes.outside, {
      ...details,
      message: `a value of ${length} bytes, ${cursor.remaining} are there`,
    })
  }
  if (type.text) return { name, type, shape, texts: await readTexts(cursor, type, length, heap) }
  if (!type.dtype) return unread(name, `it is a ${type.what}`)
  return { name, type, shape, bytes: cursor.raw(length, 'value').slice() }
}

/** Texts of a fixed length are filled up with NUL. */
async function readTexts(
  cursor: Cursor,
  { text, size }: ElementType,
  length: number,
  heap: TextHeap,
): Promise<string[]> {
  const found: string[] = []
  for (let at = 0; at < length; at += size) {
    const { offset } = cursor
    const bytes = cursor.raw(size, 'value')
    const content = text === 'variable' ? await heap.read(bytes, offset, cursor.pathOf('value')) : untilNul(bytes)
    found.push(decodeLossy(content))
  }
  return found
}

function untilNul(bytes: Uint8Array): Uint8Array {
  let end = bytes.byteLength
  while (end > 0 && bytes[end - 1] === 0) end--
  return bytes.subarray(0, end)
}
