// The metadata of one file, out of the entries that were found in its index.
import { decodeLossy, decodeUtf8, sizeAt, type WindowReader } from '../../bytes/index.js'
import type { Metadata, MetaList, MetaValue, ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import type { Entry } from './parse-index.js'
import { alignmentKey, alignmentOf, defaultAlignment, type Encoding, maxAlignment, maxKeyBytes } from './structs.js'
import { arrayType, boolType, readScalar, stringType, type ValueType, valueTypes } from './value-types.js'

export function readMetadata(
  index: IndexBytes,
  entries: readonly Entry[],
  context: ReadContext,
): { metadata: Metadata; alignment: number } {
  const metadata = new Map<string, MetaValue>()
  const firsts = new Map<string, number>()
  let alignment = defaultAlignment
  for (const [i, entry] of entries.entries()) {
    const key = readKey(index, entry, i, context)
    const value = readEntryValue(index, entry, i, context)
    if (key === undefined) continue
    const first = firsts.get(key)
    if (first !== undefined) {
      const message = `metadata[${first}] has the key ${JSON.stringify(key)} too, at 0x${entries[first]!.start.toString(16)}`
      context.report.report(codes['duplicate-key'], { offset: entry.start, path: `metadata[${i}].key`, message })
      continue
    }
    firsts.set(key, i)
    const stated = key === alignmentKey ? readAlignment(value, entry, i, context) : undefined
    alignment = stated ?? alignment
    if (key !== alignmentKey || stated !== undefined) metadata.set(key, value)
  }
  return { metadata, alignment }
}

function readKey(index: IndexBytes, entry: Entry, i: number, { report, extents }: ReadContext): string | undefined {
  const { lengthSize } = index.encoding
  const start = entry.start + lengthSize
  const bytes = index.window.slice(start, entry.keyLength)
  const key = decodeUtf8(bytes)
  const say = (code: keyof typeof codes, message: string): void =>
    report.report(codes[code], { offset: start, length: entry.keyLength, path: `metadata[${i}].key`, message })
  const note = (offset: number, length: number, field: string, value: string | number | undefined): void =>
    extents?.add({ file: report.file, offset, length, path: `metadata[${i}].${field}`, kind: 'field', value })
  note(entry.start, lengthSize, 'key_length', entry.keyLength)
  note(start, entry.keyLength, 'key', decodeLossy(bytes))
  note(start + entry.keyLength, 4, 'value_type', entry.type)
  if (entry.keyLength > maxKeyBytes) say('key-length', `the key has ${entry.keyLength} bytes`)
  if (key === undefined) say('key-utf8', 'the key is not UTF-8')
  else if (/^[a-z0-9_]+(?:\.[a-z0-9_]+)*$/.test(key)) return key
  else if (/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(key)) say('key-hyphen', `the key ${JSON.stringify(key)} has hyphens`)
  else if (key === '') say('key-syntax', 'the key is empty')
  else say('key-syntax', `the key ${JSON.stringify(key)} is not made of lower-case words with dots between`)
  return key
}

function readEntryValue(index: IndexBytes, entry: Entry, i: number, { report, extents }: ReadContext): MetaValue {
  const type = valueTypes[entry.type]!
  const value = readValue(index, type, entry.value)
  const place = { offset: entry.value, length: entry.end - entry.value, path: `metadata[${i}].value` }
  extents?.add({ file: report.file, ...place, kind: 'field', value: summary(value) })
  if (type === boolType && index.window.bytes[entry.value]! > 1) {
    report.report(codes['bool-value'], { ...place, message: `${index.window.bytes[entry.value]} is neither 0 nor 1` })
  }
  if (value.type === 'str' && value.bytes) {
    report.report(codes['value-utf8'], { ...place, message: 'the string is not UTF-8' })
  }
  return value
}

function summary(value: MetaValue): string | number | bigint | boolean | undefined {
  if (value.type === 'array') return `${value.length} of ${value.item}`
  if (value.type === 'str') return value.value.length > 200 ? `${value.value.slice(0, 200)}…` : value.value
  return 'value' in value ? (value.value as number | bigint | boolean) : undefined
}

/** Undefined when the value is refused; then the key is left out. */
function readAlignment(value: MetaValue, entry: Entry, i: number, context: ReadContext): number | undefined {
  const { report, onLost } = context
  const place = { offset: entry.value, length: entry.end - entry.value, path: `metadata[${i}].value` }
  const alignment = alignmentOf(value)
  if (alignment === undefined) {
    const found = value.type === 'u32' ? `${value.value}` : `a value of type ${value.type}`
    const message = `a power of two up to ${maxAlignment} as uint32 was expected, ${found} found`
    report.report(codes.alignment, { ...place, message })
    onLost?.({ subject: 'metadata', name: alignmentKey, reason: message })
    return undefined
  }
  if (alignment % 8 !== 0) {
    report.report(codes['alignment-small'], { ...place, message: `${alignment} is not a multiple of 8` })
  }
  return alignment
}

// Metadata values out of the index. Single values are decoded at once; arrays stay bytes until their items are read.

/** The bytes of an index that was parsed, so that every position in it can be trusted. */
interface IndexBytes {
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
