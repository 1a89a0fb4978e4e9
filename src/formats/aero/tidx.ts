// The tensor index (TIDX) is one MessagePack map; its key `tensors` holds a list of maps, one per tensor: name, dtype, shape, the weight
// shard it is in, and offset and length inside that shard. Further keys are allowed everywhere. The list is read token by token: a
// file can have a million tensors, and only what stays in the model is allocated.
import type { Code, Report } from '../../errors/index.js'
import type { JsonValue } from '../../model/index.js'
import { MsgpackReader, msgpackCodes, nameOf } from '../../wire/msgpack.js'
import type { ChunkContent } from './chunk.js'
import { codes } from './codes.js'
import { placedReport } from './placed-report.js'
import { digestSize } from './structs.js'
import { encodeTagged, mostValues, readKey, readTagged, readText, type TaggedContext } from './tagged.js'

/** One entry, as far as it makes sense by itself. The object is used again for the next one. */
export interface IndexEntry {
  /** Position in the list. */
  index: number
  /** Position of the entry's first byte in the content of the chunk. */
  at: number
  name: string
  dtype: number
  shape: number[]
  shardId: number
  /** A bigint when it is beyond 2^53-1. */
  dataOff: number | bigint
  dataLen: number | bigint
  /** What `hash_b3` says; the bytes are in `hash` when it is proper. */
  hashForm: 'none' | 'proper' | 'malformed'
  readonly hash: Uint8Array
  /** Keys that the document does not define, and `flags` when it is not 0. */
  extra: Record<string, JsonValue> | undefined
}

/** By character code; 255 for what is no hexadecimal digit. */
const hexValues = Uint8Array.from({ length: 256 }, (_, code) => {
  const value = '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase())
  return value < 0 ? 255 : value
})

/** Told about each entry; the report takes places in the content of the chunk. */
export type Visit = (entry: IndexEntry, report: Report) => void

export interface IndexRoot {
  readonly count: number
  /** Keys beside `tensors`. */
  readonly extra: Record<string, JsonValue> | undefined
}

const taggedContext = (values: number): TaggedContext => ({
  keyType: codes['tidx-key-type'],
  utf8: codes['tidx-utf8'],
  msgpack: codes['tidx-msgpack'],
  values,
})

const msgpackRows = new Set<Code>(Object.values(msgpackCodes))
const ownCode = (code: Code): Code => (msgpackRows.has(code) ? codes['tidx-msgpack'] : code)

const required = ['name', 'dtype', 'shape', 'shard_id', 'data_off', 'data_len'] as const
/** One bit for each. */
const allRequired = (1 << required.length) - 1
const known = [...required, 'flags', 'hash_b3'] as const
type Field = (typeof known)[number]
/** With the type byte of a short string in front. */
const knownBytes: readonly Uint8Array[] = known.map((field) => encodeTagged(field))

export function parseIndex(content: ChunkContent, report: Report, visit: Visit): IndexRoot {
  const placed = placedReport(report, content.chunk, ownCode)
  const reader = new MsgpackReader(content.bytes, placed)
  const tagged = taggedContext(mostValues(content.chunk.length))
  reader.where = () => 'index'
  let count = 0
  let extra: Record<string, JsonValue> | undefined
  let hasTensors = false
  if (reader.next() !== 'map') wrongType(reader, 0, 'index', 'a map was expected')
  for (let pairs = reader.length; pairs > 0; pairs--) {
    const at = reader.offset
    const key = readKey(reader, tagged)
    if (key === 'tensors') {
      if (hasTensors)
        placed.fail(codes['tidx-field-twice'], { offset: at, path: 'tensors', message: 'tensors stands twice' })
      hasTensors = true
      const start = reader.offset
      const kind = reader.next()
      if (kind !== 'array') wrongType(reader, start, 'tensors', `a list was expected, ${nameOf(kind)} found`)
      count = reader.length
      new EntryParser(reader, content.bytes, tagged, placed).readAll(count, visit)
    } else {
      extra ??= Object.create(null) as Record<string, JsonValue>
      extra[key] = readTagged(reader, tagged)
    }
  }
  if (reader.remaining > 0) {
    const message = `${reader.remaining} bytes follow the map`
    placed.fail(codes['tidx-msgpack'], { offset: reader.offset, length: reader.remaining, path: 'index', message })
  }
  return { count, extra }
}

function wrongType(reader: MsgpackReader, offset: number, path: string, message: string): never {
  return reader.report.fail(codes['tidx-type'], { offset, path, message })
}

class EntryParser {
  readonly #reader: MsgpackReader
  readonly #bytes: Uint8Array
  readonly #tagged: TaggedContext
  readonly #report: Report
  readonly #entry: IndexEntry = {
    index: 0,
    at: 0,
    name: '',
    dtype: 0,
    shape: [],
    shardId: 0,
    dataOff: 0,
    dataLen: 0,
    hashForm: 'none',
    hash: new Uint8Array(digestSize),
    extra: undefined,
  }
  #index = 0
  #field = ''
  #isGood = true

  constructor(reader: MsgpackReader, bytes: Uint8Array, tagged: TaggedContext, report: Report) {
    this.#reader = reader
    this.#bytes = bytes
    this.#tagged = tagged
    this.#report = report
  }

  readAll(count: number, visit: Visit): void {
    const where = this.#reader.where
    this.#reader.where = () => this.#path()
    for (this.#index = 0; this.#index < count; this.#index++) {
      this.#field = ''
      if (this.#read()) visit(this.#entry, this.#report)
    }
    this.#reader.where = where
  }

  #path(): string {
    return `tensors[${this.#index}]${this.#field === '' ? '' : `.${this.#field}`}`
  }

  #read(): boolean {
    const reader = this.#reader
    const entry = this.#entry
    const at = reader.offset
    const kind = reader.next()
    if (kind !== 'map') wrongType(reader, at, this.#path(), `a map was expected, ${nameOf(kind)} found`)
    entry.index = this.#index
    entry.at = at
    entry.hashForm = 'none'
    entry.extra = undefined
    this.#isGood = true
    let given = 0
    let next = 0
    for (let pairs = reader.length; pairs > 0; pairs--) {
      const keyAt = reader.offset
      const number = this.#takeKey(next)
      next = number + 1
      if (number < 0) this.#keepExtra(this.#field)
      else {
        const bit = 1 << number
        if ((given & bit) !== 0) this.#complain('tidx-field-twice', keyAt, `${known[number]} stands twice`)
        given |= bit
        this.#readField(known[number]!)
      }
    }
    this.#field = ''
    if ((given & allRequired) !== allRequired) {
      const missing = required.filter((_, i) => (given & (1 << i)) === 0)
      this.#complain('tidx-field-missing', at, `${missing.join(' and ')} missing`)
    }
    return this.#isGood
  }

  /** Takes a key. Writers list the fields in one order, so the one that should come next is tried first, without making a string. */
  #takeKey(next: number): number {
    const reader = this.#reader
    if (next < known.length && this.#startsWith(knownBytes[next]!)) {
      reader.position += knownBytes[next]!.byteLength
      this.#field = known[next]!
      return next
    }
    this.#field = ''
    const key = readKey(reader, this.#tagged)
    this.#field = key
    return known.indexOf(key as Field)
  }

  #startsWith(expected: Uint8Array): boolean {
    const bytes = this.#bytes
    const { position } = this.#reader
    for (let i = 0; i < expected.byteLength; i++) if (bytes[position + i] !== expected[i]) return false
    return true
  }

  #readField(field: Field): void {
    const reader = this.#reader
    const entry = this.#entry
    const at = reader.offset
    if (field === 'shape') {
      this.#readShape(at)
      return
    }
    const kind = reader.next()
    if (field === 'name' || field === 'hash_b3') {
      if (kind !== 'str') this.#refuse(at, kind, 'a string')
      else if (field === 'name') entry.name = readText(reader, this.#tagged)
      else this.#readHash()
      return
    }
    const { value } = reader
    if (kind !== 'int' || value < 0) {
      if (field === 'flags') this.#keepFlags(at)
      else this.#refuse(at, kind, 'an unsigned whole number')
    } else if (field === 'data_off') entry.dataOff = value
    else if (field === 'data_len') entry.dataLen = value
    else if (field === 'flags') {
      if (value !== 0) this.#keepFlags(at)
    } else if (typeof value === 'bigint') this.#refuse(at, kind, 'a smaller number')
    else if (field === 'dtype') entry.dtype = value
    else entry.shardId = value
  }

  /** 64 hexadecimal digits in either case; an empty string stands for no hash. */
  #readHash(): void {
    const { length } = this.#reader
    const digits = this.#reader.take(length)
    const { hash } = this.#entry
    this.#entry.hashForm = length === 0 ? 'none' : length === 2 * digestSize ? 'proper' : 'malformed'
    if (length !== 2 * digestSize) return
    for (let i = 0; i < digestSize; i++) {
      const high = hexValues[digits[2 * i]!]!
      const low = hexValues[digits[2 * i + 1]!]!
      if (high > 15 || low > 15) this.#entry.hashForm = 'malformed'
      hash[i] = high * 16 + low
    }
  }

  #readShape(at: number): void {
    const reader = this.#reader
    const kind = reader.next()
    if (kind !== 'array') {
      this.#refuse(at, kind, 'a list')
      return
    }
    const shape: number[] = []
    for (let left = reader.length; left > 0; left--) {
      const dimAt = reader.offset
      const dimKind = reader.next()
      const { value } = reader
      if (dimKind !== 'int' || typeof value === 'bigint' || value < 0) {
        const message = `dimension ${shape.length} is ${dimKind === 'int' ? value : nameOf(dimKind)}, which cannot be`
        this.#complain('tidx-field-type', dimAt, message)
        reader.position -= reader.offset - dimAt
        readTagged(reader, this.#tagged)
      } else shape.push(value)
    }
    this.#entry.shape = shape
  }

  #keepExtra(key: string): void {
    const value = readTagged(this.#reader, this.#tagged)
    this.#entry.extra ??= Object.create(null) as Record<string, JsonValue>
    this.#entry.extra[key] = value
  }

  /** No reader looks at flags; what is in them is carried along. */
  #keepFlags(at: number): void {
    this.#reader.position -= this.#reader.offset - at
    this.#keepExtra('flags')
  }

  #refuse(at: number, kind: Parameters<typeof nameOf>[0], wanted: string): void {
    this.#complain('tidx-field-type', at, `${wanted} was expected, ${nameOf(kind)} found`)
    this.#reader.position -= this.#reader.offset - at
    readTagged(this.#reader, this.#tagged)
  }

  #complain(code: keyof typeof codes, offset: number, message: string): void {
    this.#isGood = false
    this.#report.report(codes[code], { offset, path: this.#path(), message })
  }
}
