// Metadata values out of the index. Single values are decoded at once; arrays stay bytes until somebody asks for their items.
import { decodeLossy, decodeUtf8 } from '../../bytes/index.js'
import type { MetaList, MetaValue } from '../../model/index.js'
import type { Encoding } from './skim.js'
import { arrayType, stringType, type ValueType, valueTypes } from './value-types.js'

/** The index of a file that was walked through, so that every position in it can be trusted. */
export interface IndexView {
  readonly bytes: Uint8Array
  readonly view: DataView
  readonly encoding: Encoding
}

/** Where the items of an array are. */
export interface Items {
  readonly index: IndexView
  readonly type: ValueType
  readonly count: number
  readonly start: number
}

const itemsByList = new WeakMap<MetaList, Items>()

/** The bytes behind a list, for checks and for writing it again without decoding; undefined for lists that no file holds. */
export const itemsOf = (list: MetaList): Items | undefined => itemsByList.get(list)

export function readValue(index: IndexView, type: ValueType, at: number): MetaValue {
  if (type === stringType) return textAt(index, at)
  return type === arrayType ? listAt(index, at) : scalarAt(index, type, at)
}

function lengthAt({ view, encoding }: IndexView, at: number): number {
  const { littleEndian, lengthSize } = encoding
  if (lengthSize === 4) return view.getUint32(at, littleEndian)
  return (
    view.getUint32(at + (littleEndian ? 0 : 4), littleEndian) + // the walk has seen that the upper half is zero, or small
    view.getUint32(at + (littleEndian ? 4 : 0), littleEndian) * 2 ** 32
  )
}

/** The bytes of the string that begins at `at`. */
export function stringAt(index: IndexView, at: number): Uint8Array {
  const start = at + index.encoding.lengthSize
  return index.bytes.subarray(start, start + lengthAt(index, at))
}

function textAt(index: IndexView, at: number): MetaValue {
  const bytes = stringAt(index, at)
  const value = decodeUtf8(bytes)
  return value === undefined ? { type: 'str', value: decodeLossy(bytes), bytes } : { type: 'str', value }
}

function scalarAt({ view, encoding }: IndexView, { type }: ValueType, at: number): MetaValue {
  const { littleEndian } = encoding
  switch (type) {
    case 'u8':
      return { type, value: view.getUint8(at) }
    case 'i8':
      return { type, value: view.getInt8(at) }
    case 'u16':
      return { type, value: view.getUint16(at, littleEndian) }
    case 'i16':
      return { type, value: view.getInt16(at, littleEndian) }
    case 'u32':
      return { type, value: view.getUint32(at, littleEndian) }
    case 'i32':
      return { type, value: view.getInt32(at, littleEndian) }
    case 'u64':
      return { type, value: view.getBigUint64(at, littleEndian) }
    case 'i64':
      return { type, value: view.getBigInt64(at, littleEndian) }
    case 'f64': {
      const value = view.getFloat64(at, littleEndian)
      return Number.isNaN(value) ? { type, value, bits: view.getBigUint64(at, littleEndian) } : { type, value }
    }
    case 'bool':
      return { type, value: view.getUint8(at) !== 0 }
    default: {
      const value = view.getFloat32(at, littleEndian)
      return Number.isNaN(value)
        ? { type: 'f32', value, bits: BigInt(view.getUint32(at, littleEndian)) }
        : { type: 'f32', value }
    }
  }
}

function listAt(index: IndexView, at: number): MetaList {
  const type = valueTypes[index.view.getUint32(at, index.encoding.littleEndian)]!
  const count = lengthAt(index, at + 4)
  const items: Items = { index, type, count, start: at + 4 + index.encoding.lengthSize }
  const list: MetaList = {
    type: 'array',
    item: type.type,
    length: count,
    values: () => decodeItems(items, 0, count),
    slice: (from, to) => decodeItems(items, from, to),
  }
  itemsByList.set(list, items)
  return list
}

/** Items before `from` are stepped over, those from `to` on are not even looked at. */
function decodeItems({ index, type, count, start }: Items, from: number, to: number): readonly MetaValue[] {
  const values: MetaValue[] = []
  let at = start
  for (let i = 0; i < Math.min(to, count); i++) {
    if (i >= from) values.push(readValue(index, type, at))
    at = valueEnd(index, type, at)
  }
  return values
}

/** Visits the position of every item; returns the end of the last. */
export function forEachItem({ index, type, count, start }: Items, visit: (at: number, i: number) => void): number {
  let at = start
  for (let i = 0; i < count; i++) {
    visit(at, i)
    at = valueEnd(index, type, at)
  }
  return at
}

function valueEnd(index: IndexView, type: ValueType, at: number): number {
  if (type.size > 0) return at + type.size
  if (type === stringType) return at + index.encoding.lengthSize + lengthAt(index, at)
  return forEachItem(itemsOf(listAt(index, at))!, () => {})
}

/** The items' bytes as they lie in the file. */
export function itemBytes(items: Items): Uint8Array {
  const { index, type, count, start } = items
  const end = type.size > 0 ? start + count * type.size : forEachItem(items, () => {})
  return index.bytes.subarray(start, end)
}
