// The tensor index (TIDX) is one MessagePack map; its key `tensors` holds a list of maps, one per tensor: name, dtype, shape, the weight
// shard it is in, and offset and length inside that shard. Further keys are allowed everywhere. The list is read token by token: a
// file can have a million tensors, and only what stays in the model is allocated. Of the bytes a window is in memory at a time; what does
// not end inside it is looked at only when there is one that has all of it, so that nothing is said twice.

import { Shortage } from '../../bytes/index.js'
import { hashOfName } from '../../bytes/name-set.js'
import type { Code, Report } from '../../errors/index.js'
import type { JsonValue } from '../../model/index.js'
import { type MsgpackReader, msgpackCodes, nameOf } from '../../wire/msgpack/index.js'
import { codes } from './codes.js'
import type { ContentWindow } from './content-window.js'
import { blankEntry, type IndexEntry } from './index-entry.js'
import { placedReport } from './placed-report.js'
import { digestSize } from './structs.js'
import { maxValues, readKey, readTagged, readText, type TaggedContext } from './tagged.js'
import { fields, hexValues, UsualEntries } from './usual-entry.js'
import { WindowReader } from './window-reader.js'

export interface IndexVisitor {
  /** Told how many entries there can be, before the first. */
  begin?(most: number): void
  /** Told about each entry; the report takes places in the content of the chunk. */
  visit(entry: IndexEntry, report: Report): void
}

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
type Field = (typeof fields)[number]
/** An entry with all required fields takes at least so many bytes, so a list cannot claim more entries than it has. */
const minEntry = 1 + required.reduce((sum, field) => sum + 2 + field.length, 0)

export async function parseIndex(
  window: ContentWindow,
  report: Report,
  visitor: IndexVisitor,
  signal?: AbortSignal,
): Promise<IndexRoot> {
  const placed = placedReport(report, window.chunk, ownCode)
  const reader = new WindowReader(window, placed, signal)
  const tagged = taggedContext(maxValues(window.chunk.length))
  reader.where = () => 'index'
  let count = 0
  let extra: Record<string, JsonValue> | undefined
  let hasTensors = false
  if ((await reader.whole(() => reader.next())) !== 'map') wrongType(reader, 0, 'index', 'a map was expected')
  for (let pairs = reader.length; pairs > 0; pairs--) {
    const at = reader.offset
    const key = await reader.whole(() => readKey(reader, tagged))
    if (key === 'tensors') {
      if (hasTensors)
        placed.fail(codes['tidx-field-twice'], { offset: at, path: 'tensors', message: 'tensors stands twice' })
      hasTensors = true
      const start = reader.offset
      const kind = await reader.whole(() => reader.next())
      if (kind !== 'array') wrongType(reader, start, 'tensors', `a list was expected, ${nameOf(kind)} found`)
      count = reader.length
      visitor.begin?.(Math.min(count, Math.floor(reader.remaining / minEntry)))
      await new EntryParser(reader, tagged, placed).readAll(count, visitor)
    } else {
      await reader.whole(() => reader.expect(1))
      extra ??= Object.create(null) as Record<string, JsonValue>
      if (key in extra) placed.report(codes['key-twice'], { offset: at, path: 'index', message: twice(key) })
      extra[key] = readTagged(reader, tagged)
    }
  }
  if (reader.remaining > 0) {
    const message = `${reader.remaining} bytes follow the map`
    placed.fail(codes['tidx-msgpack'], { offset: reader.offset, length: reader.remaining, path: 'index', message })
  }
  return { count, extra }
}

const twice = (key: string): string => `${JSON.stringify(key)} stands twice`

function wrongType(reader: MsgpackReader, offset: number, path: string, message: string): never {
  return reader.report.fail(codes['tidx-type'], { offset, path, message })
}

class EntryParser {
  readonly #reader: WindowReader
  readonly #usual: UsualEntries
  readonly #tagged: TaggedContext
  readonly #report: Report
  readonly #entry = blankEntry()
  #index = 0
  /** Where the entry begins. */
  #start = 0
  #field = ''
  #isGood = true

  constructor(reader: WindowReader, tagged: TaggedContext, report: Report) {
    this.#reader = reader
    this.#usual = new UsualEntries(reader.window.bytes)
    this.#tagged = tagged
    this.#report = report
  }

  async readAll(count: number, visitor: IndexVisitor): Promise<void> {
    const reader = this.#reader
    const where = reader.where
    reader.where = () => this.#path()
    while (!this.#readWindow(count, visitor)) {
      await reader.goOn(this.#start)
      this.#usual.moveTo(reader.window.bytes)
    }
    reader.where = where
  }

  /** The entries that end in this window; true when none are left. */
  #readWindow(count: number, visitor: IndexVisitor): boolean {
    try {
      for (; this.#index < count; this.#index++) {
        this.#field = ''
        if (this.#read()) visitor.visit(this.#entry, this.#report)
      }
    } catch (error) {
      if (error instanceof Shortage) return false
      throw error
    }
    return true
  }

  #path(): string {
    return `tensors[${this.#index}]${this.#field === '' ? '' : `.${this.#field}`}`
  }

  #read(): boolean {
    const reader = this.#reader
    const entry = this.#entry
    const at = reader.offset
    this.#start = at
    const kind = reader.next()
    if (kind !== 'map') wrongType(reader, at, this.#path(), `a map was expected, ${nameOf(kind)} found`)
    entry.index = this.#index
    entry.at = at
    entry.hashForm = 'none'
    entry.extra = undefined
    this.#isGood = true
    const pairs = reader.length
    const taken = this.#usual.take(reader.position, pairs, entry)
    reader.position = this.#usual.position
    if (taken < pairs) reader.expect(2 * (pairs - taken))
    let given = (1 << taken) - 1
    for (let left = pairs - taken; left > 0; left--) {
      const keyAt = reader.offset
      this.#field = ''
      this.#field = readKey(reader, this.#tagged)
      const number = fields.indexOf(this.#field as Field)
      if (number < 0) {
        this.#noteTwice(keyAt)
        this.#keepExtra(this.#field)
      } else {
        const bit = 1 << number
        if ((given & bit) !== 0) this.#complain('tidx-field-twice', keyAt, `${this.#field} stands twice`)
        given |= bit
        this.#readField(this.#field as Field)
      }
    }
    this.#field = ''
    if ((given & allRequired) !== allRequired) {
      const missing = required.filter((_, i) => (given & (1 << i)) === 0)
      this.#complain('tidx-field-missing', at, `${missing.join(' and ')} missing`)
    }
    return this.#isGood
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
      // Nil stands for no hash, as a missing one does.
      if (field === 'hash_b3' && kind === 'nil') return
      if (kind !== 'str') this.#refuse(at, kind, 'a string')
      else if (field === 'name') this.#readName()
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

  #readName(): void {
    this.#entry.name = readText(this.#reader, this.#tagged)
    this.#entry.nameHash = hashOfName(this.#entry.name)
    this.#entry.nameBytes = undefined
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

  /** The last one of equal keys counts, as in Python. */
  #noteTwice(offset: number): void {
    const { extra } = this.#entry
    if (!extra || !(this.#field in extra)) return
    this.#report.report(codes['key-twice'], { offset, path: this.#path(), message: twice(this.#field) })
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
