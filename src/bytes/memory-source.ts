import { failWith, ioCodes } from '../errors/index.js'
import { type ByteSource, checkRange } from './source.js'

/** Bytes in memory. `siblings` lets tests and programs open multi-file models without a file system. */
export class MemorySource implements ByteSource {
  readonly name: string
  readonly size: number
  readonly #bytes: Uint8Array
  readonly #siblings: ReadonlyMap<string, Uint8Array>

  constructor(bytes: Uint8Array, name = 'memory', siblings: ReadonlyMap<string, Uint8Array> = new Map()) {
    this.name = name
    this.size = bytes.byteLength
    // What Node reads is a Buffer, whose `slice` is no copy: changing the copy would change the file.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#siblings = siblings
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    checkRange(this, offset, length)
    return this.#bytes.subarray(offset, offset + length)
  }

  async readInto(offset: number, target: Uint8Array): Promise<void> {
    checkRange(this, offset, target.byteLength)
    target.set(this.#bytes.subarray(offset, offset + target.byteLength))
  }

  async sibling(name: string): Promise<ByteSource> {
    const bytes = this.#siblings.get(name)
    if (!bytes) failWith(ioCodes['not-found'], { file: name, message: 'there is no such file beside the model' })
    return new MemorySource(bytes, name, this.#siblings)
  }

  below(path: string): Promise<ByteSource> {
    return this.sibling(path)
  }

  /** There is nothing to release. */
  async close(): Promise<void> {}
}
