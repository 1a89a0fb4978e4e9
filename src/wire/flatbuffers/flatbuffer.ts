// FlatBuffers: tables whose fields are found through a list of offsets in front of or behind them. A schema says what the fields are; a table
// here gives them by number. Everything is read where it lies, through pages, and what is read is counted: tables may be shared, and a
// file whose vectors name one table a million times must not be read for ever.
import { type ByteSource, decodeUtf8, type ExtentRecorder, sizeAt } from '../../bytes/index.js'
import { PageReader } from '../../bytes/page-reader.js'
import { neededSize, type Report } from '../../errors/index.js'
import { flatbufferCodes as codes } from './codes.js'

export interface FlatbufferContext {
  readonly report: Report
  readonly extents?: ExtentRecorder | undefined
  readonly signal?: AbortSignal | undefined
  readonly maxIndex: number
}

/** Texts and lists of fields are shared now and then, tables are not: what is read is about as long as the file. */
const perByte = 4
const always = 1 << 18
/** What is kept of a table, about: naming it once more takes four bytes. */
const perShare = 512

/** Elements one after another. */
export interface Vector {
  /** Where the first one is. */
  readonly offset: number
  readonly count: number
  readonly path: string
}

export class Flatbuffer {
  readonly source: ByteSource
  readonly report: Report
  readonly #context: FlatbufferContext
  readonly #pages: PageReader
  readonly #mapped = new Set<number>()
  readonly #tables = new Set<number>()
  #taken = 0

  constructor(source: ByteSource, context: FlatbufferContext) {
    this.source = source
    this.report = context.report
    this.#context = context
    this.#pages = new PageReader(source, 0, source.size, context.signal)
  }

  async root(): Promise<Table> {
    const head = await this.bytes(0, 8, 'root')
    this.map(0, 8, 'root', 'field')
    return this.table(viewOf(head).getUint32(0, true), 'root')
  }

  async bytes(offset: number, length: number, path: string): Promise<Uint8Array> {
    this.check(offset, length, path)
    this.#taken += length
    const max = Math.min(this.#context.maxIndex, always + perByte * this.source.size)
    if (this.#taken > max) this.report.fail(codes.size, { offset, path, message: `tables of more than ${max} bytes` })
    return this.#pages.read(offset, length)
  }

  check(offset: number, length: number, path: string): void {
    const { size } = this.source
    if (offset >= 0 && offset + length <= size) return
    const message = `bytes ${offset} to ${offset + length} are named, the file has ${size}`
    this.report.fail(codes.outside, {
      offset: Math.min(Math.max(0, offset), size),
      path,
      message,
      ...neededSize(offset + length),
    })
  }

  /** Each piece is in the byte map once, although lists of fields and texts can be shared. */
  map(offset: number, length: number, path: string, kind: 'field' | 'data', value?: string | number): void {
    const { extents } = this.#context
    if (!extents || length === 0 || this.#mapped.has(offset)) return
    this.#mapped.add(offset)
    extents.add({ file: this.report.file, offset, length, path, kind, value })
  }

  async table(offset: number, path: string): Promise<Table> {
    if (this.#tables.size === this.#tables.add(offset).size) this.#taken += perShare
    const fieldsAt = offset - viewOf(await this.bytes(offset, 4, path)).getInt32(0, true)
    const head = viewOf(await this.bytes(fieldsAt, 4, path))
    const [listSize, tableSize] = [head.getUint16(0, true), head.getUint16(2, true)]
    if (listSize < 4 || listSize % 2 !== 0 || tableSize < 4)
      this.report.fail(codes.table, { offset: fieldsAt, path, message: `a list of ${listSize} bytes for ${tableSize}` })
    const list = viewOf((await this.bytes(fieldsAt, listSize, path)).slice())
    const bytes = (await this.bytes(offset, tableSize, path)).slice()
    this.map(fieldsAt, listSize, `${path}.fields`, 'field')
    this.map(offset, tableSize, path, 'field')
    return new Table(this, offset, path, bytes, list)
  }
}

export class Table {
  readonly offset: number
  readonly path: string
  readonly #file: Flatbuffer
  readonly #view: DataView
  readonly #fields: DataView

  constructor(file: Flatbuffer, offset: number, path: string, bytes: Uint8Array, fields: DataView) {
    this.#file = file
    this.offset = offset
    this.path = path
    this.#view = viewOf(bytes)
    this.#fields = fields
  }

  /** Where a field is in the table; undefined if it has its default value. */
  #place(field: number, width: number): number | undefined {
    const at = 4 + 2 * field
    const place = at + 2 <= this.#fields.byteLength ? this.#fields.getUint16(at, true) : 0
    if (place === 0) return undefined
    if (place >= 4 && place + width <= this.#view.byteLength) return place
    const message = `field ${field} lies outside the table`
    return this.#file.report.fail(codes.table, { offset: this.offset, path: this.path, message })
  }

  u8(field: number): number {
    const at = this.#place(field, 1)
    return at === undefined ? 0 : this.#view.getUint8(at)
  }

  i32(field: number): number {
    const at = this.#place(field, 4)
    return at === undefined ? 0 : this.#view.getInt32(at, true)
  }

  u32(field: number): number {
    const at = this.#place(field, 4)
    return at === undefined ? 0 : this.#view.getUint32(at, true)
  }

  /** A number of 64 bits that is a size or a place. */
  size(field: number, name: string): number {
    const at = this.#place(field, 8)
    const details = { offset: this.offset, path: `${this.path}.${name}`, message: 'it is more than any file can hold' }
    return at === undefined ? 0 : (sizeAt(this.#view, at) ?? this.#file.report.fail(codes.outside, details))
  }

  #target(field: number): number | undefined {
    const at = this.#place(field, 4)
    return at === undefined ? undefined : this.offset + at + this.#view.getUint32(at, true)
  }

  async table(field: number, name: string): Promise<Table | undefined> {
    const target = this.#target(field)
    return target === undefined ? undefined : this.#file.table(target, `${this.path}.${name}`)
  }

  /** A vector of elements of this width; empty if it is not there. Without `isMapped`, the caller says what its elements are. */
  async vector(field: number, width: number, name: string, isMapped = true): Promise<Vector> {
    const target = this.#target(field)
    const path = `${this.path}.${name}`
    if (target === undefined) return { offset: this.offset, count: 0, path }
    const count = viewOf(await this.#file.bytes(target, 4, path)).getUint32(0, true)
    this.#file.check(target + 4, count * width, path)
    this.#file.map(target, 4, `${path}.length`, 'field', count)
    if (isMapped) this.#file.map(target + 4, count * width, path, 'field')
    return { offset: target + 4, count, path }
  }

  async numbers(
    field: number,
    width: 4 | 8,
    name: string,
    read: (view: DataView, at: number) => number,
  ): Promise<number[]> {
    const { offset, count, path } = await this.vector(field, width, name)
    const view = viewOf(await this.#file.bytes(offset, count * width, path))
    return Array.from({ length: count }, (_, i) => read(view, i * width))
  }

  async *tables(field: number, name: string): AsyncGenerator<Table, void, void> {
    const { offset, count, path } = await this.vector(field, 4, name)
    for (let i = 0; i < count; i++) {
      const at = offset + 4 * i
      const step = viewOf(await this.#file.bytes(at, 4, path)).getUint32(0, true)
      yield await this.#file.table(at + step, `${path}[${i}]`)
    }
  }

  async text(field: number, name: string): Promise<string | undefined> {
    const target = this.#target(field)
    if (target === undefined) return undefined
    const { offset, count, path } = await this.vector(field, 1, name)
    const bytes = await this.#file.bytes(offset, count + 1, path)
    this.#file.map(offset + count, 1, `${path}.end`, 'field')
    const text = bytes[count] === 0 ? decodeUtf8(bytes.subarray(0, count)) : undefined
    return text ?? this.#file.report.fail(codes.text, { offset, length: count, path, message: 'it is not a text' })
  }
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
