import { failWith, ioCodes } from '../errors/index.js'
import { type ByteSource, checkAborted, checkRange, type ReadOptions, type SourceHandle } from './source.js'

/** A Blob or File, as a browser hands them out. `siblings` are the other files of the same drop. */
export class BlobSource implements ByteSource {
  readonly name: string
  readonly size: number
  readonly #blob: Blob
  readonly #siblings: ReadonlyMap<string, Blob>

  constructor(blob: Blob, name?: string, siblings: ReadonlyMap<string, Blob> = new Map()) {
    this.name = name ?? ('name' in blob && typeof blob.name === 'string' ? blob.name : 'blob')
    this.size = blob.size
    this.#blob = blob
    this.#siblings = siblings
  }

  get handle(): SourceHandle {
    return { kind: 'blob', name: this.name, size: this.size, blob: this.#blob }
  }

  async read(offset: number, length: number, options?: ReadOptions): Promise<Uint8Array> {
    checkRange(this, offset, length)
    checkAborted(options?.signal, this.name)
    const part = this.#blob.slice(offset, offset + length)
    const bytes = new Uint8Array(await part.arrayBuffer().catch((error) => this.#refuse(error, offset, length)))
    if (bytes.byteLength !== length) {
      const message = `${length} bytes were asked for, ${bytes.byteLength} came`
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

  async close(): Promise<void> {}
}
