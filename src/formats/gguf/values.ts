// Metadata values out of the index. Single values are decoded at once; arrays stay bytes until their items are read.
import { decodeLossy, decodeUtf8, sizeAt, type WindowReader } from '../../bytes/index.js'
import type { MetaList, MetaValue } from '../../model/index.js'
import type { Encoding } from './structs.js'
import { arrayType, readScalar, stringType, type ValueType, valueTypes } from './value-types.js'

/** The bytes of an index that was parsed, so that every position in it can be trusted. */
export interface IndexBytes {
  readonly window: WindowReader
  readonly encoding: Encoding
}

/** An array as it lies in a file. Checks and writers use its bytes without decoding them. */
export class StoredList implements MetaList {
  readonly type = 'array'
  readonly item: MetaValue['type']
  readonly length: number
  readonly index: IndexBytes
  readonly itemType: ValueType
  readonly #start: number

  /** `at` is where the type of the items is, before their count. */
  constructor(index: IndexBytes, at: number) {
    const { window, encoding } = index
    this.index = index
    this.itemType = valueTypes[window.view.getUint32(at, encoding.littleEndian)]!
    this.item = this.itemType.type
    this.length = lengthAt(index, at + 4)
    this.#start = at + 4 + encoding.lengthSize
  }

  values(): readonly MetaValue[] {
    return this.slice(0, this.length)
  }

  /** Items before `from` are stepped over, those from `to` on are not even looked at. */
  slice(from: number, to: number): readonly MetaValue[] {
    const values: MetaValue[] = []
    let at = this.#start
    for (let i = 0; i < Math.min(to, this.length); i++) {
      if (i >= from) values.push(readValue(this.index, this.itemType, at))
      at = valueEnd(this.index, this.itemType, at)
    }
    return values
  }

  /** Visits the position of every item; returns the end of the last. */
  forEachItem(visit: (at: number, i: number) => void): number {
    let at = this.#start
    for (let i = 0; i < this.length; i++) {
      visit(at, i)
      at = valueEnd(this.index, this.itemType, at)
    }
    return at
  }

  get end(): number {
    const { size } = this.itemType
    return size > 0 ? this.#start + this.length * size : this.forEachItem(() => {})
  }

  /** The bytes of all items. */
  get bytes(): Uint8Array {
    return this.index.window.slice(this.#start, this.end - this.#start)
  }
}

export function readValue(index: IndexBytes, type: ValueType, at: number): MetaValue {
  if (type === stringType) return textAt(index, at)
  if (type === arrayType) return new StoredList(index, at)
  return readScalar(type, index.window.view, at, index.encoding.littleEndian)
}

function valueEnd(index: IndexBytes, type: ValueType, at: number): number {
  if (type.size > 0) return at + type.size
  if (type === stringType) return at + index.encoding.lengthSize + lengthAt(index, at)
  return new StoredList(index, at).end
}

function lengthAt({ window: { view }, encoding }: IndexBytes, at: number): number {
  const { littleEndian, lengthSize } = encoding
  return lengthSize === 4 ? view.getUint32(at, littleEndian) : sizeAt(view, at, littleEndian)!
}

/** The bytes of the string that begins at `at`. */
export const stringAt = (index: IndexBytes, at: number): Uint8Array =>
  index.window.slice(at + index.encoding.lengthSize, lengthAt(index, at))

function textAt(index: IndexBytes, at: number): MetaValue {
  const bytes = stringAt(index, at)
  const value = decodeUtf8(bytes)
  return value === undefined ? { type: 'str', value: decodeLossy(bytes), bytes } : { type: 'str', value }
}
