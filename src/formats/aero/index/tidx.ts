// The tensor index (TIDX) is one MessagePack map; its key `tensors` holds a list of maps, one per tensor: name, dtype, shape, the weight
// shard it is in, and offset and length inside that shard. Further keys are allowed everywhere. The list is read entry by entry, so that
// of a large index nothing is built up that the model does not keep.
import type { Report } from '../../../errors/index.js'
import type { JsonValue } from '../../../model/index.js'
import { type MsgpackKind, MsgpackReader, nameOf } from '../../../wire/msgpack/index.js'
import { codes } from '../codes.js'
import { type ChunkContent, placedReport } from '../control/chunk.js'
import { digestSize } from '../structs.js'
import { maxValues, readKey, readTagged, readText, type TaggedContext } from './tagged.js'

/** One entry, as far as it can be judged without the rest of the file. */
export interface IndexEntry {
  /** Position in the list. */
  index: number
  /** Position of the entry's first byte in the content of the chunk. */
  at: number
  name: string
  dtype: number
  shape: readonly number[]
  shardId: number
  /** A bigint when it is beyond 2^53-1. */
  dataOff: number | bigint
  dataLen: number | bigint
  /** In lower case; empty when it is not 64 hexadecimal digits. */
  hash: string | undefined
  /** Keys that the document does not define, and `flags` when it is not 0. */
  extra: Record<string, JsonValue> | undefined
}

/** Told about each entry that is sound, which is valid until it returns; the report takes offsets in the content of the chunk. */
export type VisitEntry = (entry: IndexEntry, report: Report) => void

/** Gives the keys beside `tensors`, if there are any. */
export function parseIndex(
  { chunk, bytes }: ChunkContent,
  report: Report,
  visit: VisitEntry,
): Record<string, JsonValue> | undefined {
  const placed = placedReport(report, chunk, codes['tidx-msgpack'])
  const reader = new MsgpackReader(bytes, placed, { where: () => 'index' })
  const tagged: TaggedContext = {
    keyType: codes['tidx-key-type'],
    utf8: codes['tidx-utf8'],
    msgpack: codes['tidx-msgpack'],
    values: maxValues(chunk.length),
  }
  let extra: Record<string, JsonValue> | undefined
  let hasTensors = false
  if (reader.next() !== 'map') wrongType(reader, 0, 'index', 'a map was expected')
  for (let pairs = reader.length; pairs > 0; pairs--) {
    const at = reader.offset
    const key = readKey(reader, tagged)
    if (key === 'tensors') {
      if (hasTensors)
        placed.fail(codes['tidx-field-twice'], { offset: at, path: 'tensors', message: 'tensors occurs twice' })
      hasTensors = true
      const start = reader.offset
      const kind = reader.next()
      if (kind !== 'array') wrongType(reader, start, 'tensors', `a list was expected, ${nameOf(kind)} found`)
      readEntries(reader, tagged, visit)
    } else {
      extra ??= Object.create(null) as Record<string, JsonValue>
      if (key in extra) placed.report(codes['key-twice'], { offset: at, path: 'index', message: twice(key) })
      extra[key] = readTagged(reader, tagged)
    }
  }
  if (reader.remaining > 0) {
    const message = `${reader.remaining} bytes follow the map`
    placed.fail(codes['tidx-msgpack'], { offset: reader.offset, length: reader.remaining, path: 'index', message })
  }
  return extra
}

const twice = (key: string): string => `${JSON.stringify(key)} occurs twice`

function wrongType(reader: MsgpackReader, offset: number, path: string, message: string): never {
  return reader.report.fail(codes['tidx-type'], { offset, path, message })
}

function readEntries(reader: MsgpackReader, tagged: TaggedContext, visit: VisitEntry): void {
  const count = reader.length
  const { where } = reader
  const parser = new EntryParser(reader, tagged)
  for (let index = 0; index < count; index++) {
    const entry = parser.read(index)
    if (entry) visit(entry, reader.report)
  }
  reader.where = where
}

const required = ['name', 'dtype', 'shape', 'shard_id', 'data_off', 'data_len'] as const
const fields: readonly string[] = [...required, 'flags', 'hash_b3']
/** A bit for each of the fields, by its position in the list. */
const allRequired = 2 ** required.length - 1

/** As many shapes are remembered. */
const maxShapes = 64

class EntryParser {
  readonly #reader: MsgpackReader
  readonly #tagged: TaggedContext
  /** The same object for all of them: an index can have a hundred thousand. */
  readonly #entry: IndexEntry = blankEntry()
  #field = ''
  #isSound = true
  readonly #dims: number[] = []
  readonly #shapes: (readonly number[])[] = []

  constructor(reader: MsgpackReader, tagged: TaggedContext) {
    this.#reader = reader
    this.#tagged = tagged
    reader.where = () => this.#path()
  }

  #path(): string {
    return `tensors[${this.#entry.index}]${this.#field === '' ? '' : `.${this.#field}`}`
  }

  /** The next entry; undefined when something is wrong with it, which was reported. */
  read(index: number): IndexEntry | undefined {
    const reader = this.#reader
    const at = reader.offset
    clearEntry(this.#entry, index, at)
    this.#field = ''
    this.#isSound = true
    const kind = reader.next()
    if (kind !== 'map') wrongType(reader, at, this.#path(), `a map was expected, ${nameOf(kind)} found`)
    let given = 0
    // Writers keep to one order of the fields, so the next key is mostly known.
    let next = 0
    for (let left = reader.length; left > 0; left--) {
      const keyAt = reader.offset
      this.#field = ''
      this.#field = readKey(reader, this.#tagged, fields[next])
      const number = this.#field === fields[next] ? next : fields.indexOf(this.#field)
      next = number + 1
      if (number < 0) {
        this.#noteTwice(keyAt)
        this.#keepExtra(this.#field)
      } else {
        const bit = 1 << number
        if ((given & bit) !== 0) this.#complain('tidx-field-twice', keyAt, `${this.#field} occurs twice`)
        given |= bit
        this.#readField(this.#field)
      }
    }
    this.#field = ''
    if ((given & allRequired) !== allRequired) {
      const missing = required.filter((_, i) => (given & (1 << i)) === 0)
      this.#complain('tidx-field-missing', at, `${missing.join(' and ')} missing`)
    }
    return this.#isSound ? this.#entry : undefined
  }

  #readField(field: string): void {
    const reader = this.#reader
    const entry = this.#entry
    const at = reader.offset
    const kind = reader.next()
    if (field === 'shape') this.#readShape(at, kind)
    else if (field === 'name') {
      if (kind === 'str') entry.name = readText(reader, this.#tagged)
      else this.#refuse(at, kind, 'a string')
    } else if (field === 'hash_b3') {
      // Nil stands for no hash, as a missing one does.
      if (kind === 'str') entry.hash = readHash(reader)
      else if (kind !== 'nil') this.#refuse(at, kind, 'a string')
    } else {
      const { value } = reader
      const isUnsigned = kind === 'int' && value >= 0
      if (field === 'flags') {
        if (!isUnsigned || value !== 0) this.#keepFlags(at)
      } else if (!isUnsigned) this.#refuse(at, kind, 'an unsigned whole number')
      else if (field === 'data_off') entry.dataOff = value
      else if (field === 'data_len') entry.dataLen = value
      else if (typeof value === 'bigint') this.#refuse(at, kind, 'a smaller number')
      else if (field === 'dtype') entry.dtype = value
      else entry.shardId = value
    }
  }

  #readShape(at: number, kind: MsgpackKind): void {
    const reader = this.#reader
    if (kind !== 'array') {
      this.#refuse(at, kind, 'a list')
      return
    }
    const dims = this.#dims
    const rank = reader.length
    for (let i = 0; i < rank; i++) {
      const dimAt = reader.offset
      const dimKind = reader.next()
      const { value } = reader
      if (dimKind !== 'int' || typeof value === 'bigint' || value < 0) {
        const message = `dimension ${i} is ${dimKind === 'int' ? value : nameOf(dimKind)}, which cannot be`
        this.#complain('tidx-field-type', dimAt, message)
        this.#readAgain(dimAt)
      } else dims[i] = value
    }
    this.#entry.shape = this.#shared(dims, rank)
  }

  /** A model has few shapes, however many tensors it has; those of equal shape share one list. */
  #shared(dims: readonly number[], rank: number): readonly number[] {
    for (const shape of this.#shapes) if (isShape(shape, dims, rank)) return shape
    const shape = dims.slice(0, rank)
    if (this.#shapes.length < maxShapes) this.#shapes.push(shape)
    return shape
  }

  /** The last one of equal keys counts, as in Python. */
  #noteTwice(offset: number): void {
    const { extra } = this.#entry
    if (!extra || !(this.#field in extra)) return
    this.#reader.report.report(codes['key-twice'], { offset, path: this.#path(), message: twice(this.#field) })
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

  #refuse(at: number, kind: MsgpackKind, wanted: string): void {
    this.#complain('tidx-field-type', at, `${wanted} was expected, ${nameOf(kind)} found`)
    this.#readAgain(at)
  }

  /** Takes the value that begins at `at` for whatever it is, to go on behind it. */
  #readAgain(at: number): void {
    this.#reader.position -= this.#reader.offset - at
    readTagged(this.#reader, this.#tagged)
  }

  #complain(code: keyof typeof codes, offset: number, message: string): void {
    this.#isSound = false
    this.#reader.report.report(codes[code], { offset, path: this.#path(), message })
  }
}

const noShape: readonly number[] = []

const blankEntry = (): IndexEntry => ({
  index: 0,
  at: 0,
  name: '',
  dtype: 0,
  shape: noShape,
  shardId: 0,
  dataOff: 0,
  dataLen: 0,
  hash: undefined,
  extra: undefined,
})

/** What is missing in an entry stays as it is set here. */
function clearEntry(entry: IndexEntry, index: number, at: number): void {
  entry.index = index
  entry.at = at
  entry.name = ''
  entry.dtype = 0
  entry.shape = noShape
  entry.shardId = 0
  entry.dataOff = 0
  entry.dataLen = 0
  entry.hash = undefined
  entry.extra = undefined
}

function isShape(shape: readonly number[], dims: readonly number[], rank: number): boolean {
  if (shape.length !== rank) return false
  for (let i = 0; i < rank; i++) if (shape[i] !== dims[i]) return false
  return true
}

/** An empty string stands for no hash. */
function readHash(reader: MsgpackReader): string | undefined {
  const { length } = reader
  const text = length === 2 * digestSize ? reader.takeText(length) : undefined
  if (text !== undefined) return lowerHex(text)
  reader.take(length)
  return length === 0 ? undefined : ''
}

/** By character code. */
const isHex: readonly boolean[] = Array.from({ length: 0x80 }, (_, code) => /[0-9a-f]/i.test(String.fromCharCode(code)))

/** Empty when there is anything but hexadecimal digits. A loop, since regular expressions take several times as long. */
function lowerHex(text: string): string {
  for (let i = 0; i < text.length; i++) if (!isHex[text.charCodeAt(i)]) return ''
  return text.toLowerCase()
}
