import { failWith, ioCodes } from '../errors/index.js'
import { type ByteSource, checkAborted, checkRange, type ReadOptions, type SourceHandle } from './source.js'

/** A slice takes a trip of milliseconds to another process, whatever its length; several trips take little longer than one. */
const slicesAhead = 4
/** Shorter reads are not those of a long stream. */
const minAhead = 1 << 16
/** What is read ahead of all streams over the file takes no more memory than this. */
const maxAhead = 1 << 24

/** A Blob or File, as a browser hands them out. `siblings` are the other files of the same drop. */
export class BlobSource implements ByteSource {
  readonly name: string
  readonly size: number
  readonly #blob: Blob
  readonly #siblings: ReadonlyMap<string, Blob>
  /** Slices on their way, by offset and length; the oldest first. */
  readonly #ahead = new Map<string, { readonly length: number; readonly bytes: Promise<Uint8Array> }>()

  constructor(blob: Blob, name?: string, siblings: ReadonlyMap<string, Blob> = new Map()) {
    this.name = name ?? ('name' in blob && typeof blob.name === 'string' ? blob.name : 'blob')
    this.size = blob.size
    this.#blob = blob
    this.#siblings = siblings
  }

  get handle(): SourceHandle {
    return { kind: 'blob', name: this.name, size: this.size, blob: this.#blob }
  }

  /** Of a stream (`ahead`), the next few slices are asked for together with this one. */
  async read(offset: number, length: number, options?: ReadOptions): Promise<Uint8Array> {
    checkRange(this, offset, length)
    checkAborted(options?.signal, this.name)
    const key = `${offset}:${length}`
    const bytes = this.#ahead.get(key)?.bytes ?? this.#slice(offset, length)
    this.#ahead.delete(key)
    if (options?.ahead) this.#readAhead(offset + length, length, options.ahead)
    return bytes
  }

  #readAhead(start: number, length: number, ahead: number): void {
    if (length < minAhead || slicesAhead * length > maxAhead) return
    const end = Math.min(this.size, start + Math.min(ahead, slicesAhead * length))
    for (let offset = start; offset < end; offset += length) {
      const some = Math.min(length, start + ahead - offset, this.size - offset)
      const key = `${offset}:${some}`
      if (this.#ahead.has(key)) continue
      const bytes = this.#slice(offset, some)
      bytes.catch(() => {}) // who reads it gets the error; perhaps nobody does
      this.#ahead.set(key, { length: some, bytes })
    }
    let held = 0
    for (const each of this.#ahead.values()) held += each.length
    for (const [key, each] of this.#ahead) {
      if (held <= maxAhead) return
      held -= each.length
      this.#ahead.delete(key)
    }
  }

  async #slice(offset: number, length: number): Promise<Uint8Array> {
    const part = this.#blob.slice(offset, offset + length)
    const bytes = new Uint8Array(await part.arrayBuffer().catch((error) => this.#refuse(error, offset, length)))
    if (bytes.byteLength !== length) {
      const message = `${length} bytes were requested, ${bytes.byteLength} came`
      failWith(ioCodes['short-read'], { file: this.name, offset, length, message })
    }
    return bytes
  }

  /** A File is a promise to read what was chosen: browsers break it when the file on the disk is another one by now. */
  #refuse(error: unknown, offset: number, length: number): never {
    const { name, message } = error as DOMException
    const code = { NotReadableError: ioCodes.changed, NotFoundError: ioCodes['not-found'] }[name] ?? ioCodes.failed
    return failWith(code, { file: this.name, offset, length, message }, { cause: error })
  }

  async sibling(name: string): Promise<ByteSource> {
    const blob = this.#siblings.get(name)
    if (!blob)
      failWith(ioCodes['not-found'], { file: name, message: 'this file was not given together with the model' })
    return new BlobSource(blob, name, this.#siblings)
  }

  below(path: string): Promise<ByteSource> {
    return this.sibling(path)
  }

  /** Later reads fail. */
  async close(): Promise<void> {
    this.#ahead.clear()
  }
}
