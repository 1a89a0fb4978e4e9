// Goes through the maps of a checkpoint and notes what is in them. There is no index: each array says how long it is, and is stepped over.
import { type ByteSource, type Extent, Shortage, WindowReader } from '../../bytes/index.js'
import type { ReadContext } from '../../model/index.js'
import { memberPath } from '../../wire/json/json.js'
import { MsgpackReader, msgpackCodes } from '../../wire/msgpack/index.js'
import { arrayTypes, chunkedKey, readArray } from './array.js'
import { joinChunks } from './chunked.js'
import { codes } from './codes.js'
import type { Leaf, LeafValue } from './leaf.js'
import { readKey, readMeta } from './values.js'

/** Behind the data of an array comes a key and the head of the next one. */
const minWindow = 512

/** What a value costs beside its name and content, and each map around it: about as many bytes of memory. */
const perEntry = 200
const perLevel = 8
/** Checkpoints are mostly arrays. A file of nothing but short values would take much more memory than it has bytes. */
const perByte = 8
const always = 1 << 25

/** A map or a list that is being read. */
interface Frame {
  readonly path: readonly string[]
  readonly where: string
  readonly at: number
  readonly count: number
  /** How long the names of all that is in it are, at least. */
  readonly length: number
  /** Of a map; lists have none. */
  readonly keys: Set<string> | undefined
  read: number
  /** How many leaves there were before. */
  readonly first: number
}

interface Entry {
  readonly at: number
  readonly key: string
  readonly where: string
  /** Where its value begins. */
  readonly valueAt: number
  readonly value: LeafValue | { readonly kind: 'map' | 'list'; readonly count: number }
  readonly end: number
}

export class Walk {
  readonly leaves: Leaf[] = []
  readonly #source: ByteSource
  readonly #context: ReadContext
  readonly #window: WindowReader
  readonly #reader: MsgpackReader
  readonly #frames: Frame[] = []
  #where = ''
  /** The key of the value that is being read, once it is known. */
  #key: string | undefined
  #indexBytes = 0
  #extents: Omit<Extent, 'file'>[] = []

  constructor(source: ByteSource, context: ReadContext) {
    this.#source = source
    this.#context = context
    this.#window = new WindowReader(source, { signal: context.signal, min: minWindow })
    this.#reader = new MsgpackReader(this.#window.bytes, context.report, { end: source.size, where: () => this.#where })
  }

  /** Where reading has come to. */
  get offset(): number {
    return this.#reader.offset
  }

  async run(): Promise<void> {
    await this.#step(() => this.#root())
    while (this.#frames.length > 0) await this.#step(() => this.#next())
    const { offset, remaining } = this.#reader
    if (remaining === 0) return
    const message = `${remaining} bytes follow the outermost map`
    const details = { offset, length: remaining, path: 'trailing_bytes', message }
    this.#context.report.report(msgpackCodes['trailing-bytes'], details)
  }

  /** The path of what was being read when reading had to stop, or of the array that it is a piece of. Its pieces are forgotten. */
  stop(): readonly string[] {
    const chunked = this.#frames.find(({ keys }) => keys?.has(chunkedKey))
    const path = this.#frames.at(-1)?.path ?? []
    if (!chunked) return this.#key === undefined ? [] : [...path, this.#key]
    this.leaves.length = chunked.first
    return chunked.path
  }

  /** Repeats a step with more bytes at hand when it has run out of them. It keeps nothing before it has all of them. */
  async #step(step: () => void): Promise<void> {
    const start = this.#reader.offset
    for (;;) {
      this.#extents = []
      this.#key = undefined
      try {
        step()
        break
      } catch (error) {
        if (!(error instanceof Shortage)) throw error
        const needed = error.offset + error.length - start
        this.#checkLimit(start, needed)
        await this.#window.reach(start, needed)
        this.#reader.moveTo(this.#window.bytes, start)
      }
    }
    for (const extent of this.#extents) this.#context.extents?.add({ file: this.#source.name, ...extent })
  }

  #checkLimit(offset: number, more: number): void {
    const { limits, report } = this.#context
    const max = Math.min(limits.indexBytes, always + perByte * this.#source.size)
    if (this.#indexBytes + more <= max) return
    const message = `they take more than ${max} bytes`
    report.fail(codes['index-limit'], { offset, path: this.#where, message })
  }

  #root(): void {
    const kind = this.#reader.next()
    if (kind !== 'map') {
      const message = 'a map was expected at the beginning'
      this.#context.report.fail(codes.root, { offset: 0, path: 'root', message })
    }
    const count = this.#reader.length
    this.#note(0, this.#reader.offset, 'root', 'field', count)
    this.#frames.push({ path: [], where: '', at: 0, length: 0, count, keys: new Set(), read: 0, first: 0 })
  }

  #next(): void {
    const frame = this.#frames.at(-1)!
    if (frame.read === frame.count) {
      this.#leave(frame)
      return
    }
    const entry = this.#entry(frame)
    frame.read++
    // A long key counts for each value below it, because it is in the name of each.
    const names = frame.length + perLevel * frame.path.length
    this.#indexBytes += perEntry + names + entry.end - entry.at - dataLength(entry.value)
    this.#checkLimit(entry.at, 0)
    this.#keep(frame, entry)
    this.#where = frame.where
  }

  #entry(frame: Frame): Entry {
    const reader = this.#reader
    const at = reader.offset
    this.#where = frame.where
    const key = frame.keys ? readKey(reader) : String(frame.read)
    this.#key = key
    const where = frame.keys ? memberPath(frame.where, key) : `${frame.where}[${key}]`
    this.#where = where
    const valueAt = reader.offset
    this.#note(at, valueAt, `${where}.key`, 'field', key.slice(0, 200))
    const value = this.#value(valueAt, where)
    return { at, key, where, valueAt, value, end: reader.offset }
  }

  #value(valueAt: number, where: string): Entry['value'] {
    const reader = this.#reader
    const kind = reader.next()
    if (kind === 'map' || kind === 'array') {
      const count = reader.length
      this.#note(valueAt, reader.offset, where, 'field', count)
      return { kind: kind === 'map' ? 'map' : 'list', count }
    }
    if (kind !== 'ext' || !arrayTypes.includes(reader.extType)) {
      const value = readMeta(reader, kind)
      this.#note(valueAt, reader.offset, where, 'field')
      return value
    }
    const end = reader.offset + reader.length
    const array = readArray(reader, end)
    if ('code' in array) {
      this.#note(valueAt, end, where, 'field')
      const { code, offset, message } = array
      this.#context.report.report(codes[code], { offset, path: where, message })
      reader.position += end - reader.offset
      return { kind: 'bad', subject: 'tensor', reason: message }
    }
    this.#note(valueAt, array.offset, `${where}.head`, 'field')
    this.#note(array.offset, end, `${where}.data`, 'data')
    reader.position += array.length
    return { kind: 'array', array }
  }

  #keep(frame: Frame, { at, key, where, valueAt, value }: Entry): void {
    const { report, limits } = this.#context
    const path = [...frame.path, key]
    const isTwin = frame.keys?.has(key) ?? false
    const twice = `the key ${JSON.stringify(key)} occurs twice in one map`
    if (isTwin) report.report(msgpackCodes['duplicate-key'], { offset: at, path: where, message: twice })
    frame.keys?.add(key)
    if (!('count' in value)) {
      this.leaves.push({ path, at, value: isTwin ? { kind: 'bad', subject: 'tensor', reason: twice } : value })
      return
    }
    if (this.#frames.length >= limits.depth) {
      const message = `lists and maps are nested more than ${limits.depth} deep`
      report.fail(msgpackCodes.depth, { offset: valueAt, path: where, message })
    }
    const keys = value.kind === 'map' ? new Set<string>() : undefined
    const length = frame.length + key.length
    this.#frames.push({ path, where, at, length, count: value.count, keys, read: 0, first: this.leaves.length })
  }

  #leave({ keys, path, where, at, first }: Frame): void {
    this.#frames.pop()
    if (!keys?.has(chunkedKey)) return
    if (path.length === 0) {
      const message = 'the whole file is one array in chunks, without a name'
      this.#context.report.fail(codes.root, { offset: at, path: 'root', message })
    }
    const joined = joinChunks(this.leaves.slice(first), path.length)
    this.leaves.length = first
    const isBad = typeof joined === 'string'
    if (isBad) this.#context.report.report(codes.chunked, { offset: at, path: where, message: joined })
    this.leaves.push({ path, at, value: isBad ? { kind: 'bad', subject: 'tensor', reason: joined } : joined })
  }

  #note(start: number, end: number, path: string, kind: Extent['kind'], value?: Extent['value']): void {
    if (this.#context.extents && end > start)
      this.#extents.push({ offset: start, length: end - start, path, kind, ...(value !== undefined && { value }) })
  }
}

const dataLength = (value: Entry['value']): number => (value.kind === 'array' ? value.array.length : 0)
