import { MemorySource } from './memory-source.js'
import type { ByteSink } from './sink.js'
import type { ByteSource } from './source.js'

/** Collects output in memory; `files` has what was closed, by name. */
export class MemorySink implements ByteSink {
  readonly name: string
  readonly canPatch = true
  readonly files: Map<string, Uint8Array>
  #buffer = new Uint8Array(4096)
  #position = 0

  constructor(name = 'memory', files: Map<string, Uint8Array> = new Map()) {
    this.name = name
    this.files = files
  }

  get position(): number {
    return this.#position
  }

  /** What was written so far. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#position)
  }

  async write(bytes: Uint8Array): Promise<void> {
    const end = this.#position + bytes.byteLength
    if (end > this.#buffer.byteLength) {
      const larger = new Uint8Array(Math.max(end, this.#buffer.byteLength * 2))
      larger.set(this.bytes)
      this.#buffer = larger
    }
    this.#buffer.set(bytes, this.#position)
    this.#position = end
  }

  /** Overwrites bytes that were written before. */
  async patch(offset: number, bytes: Uint8Array): Promise<void> {
    this.#buffer.set(bytes, offset)
  }

  async sibling(name: string): Promise<ByteSink> {
    return new MemorySink(name, this.files)
  }

  async reopen(): Promise<ByteSource> {
    return new MemorySource(this.bytes, this.name, this.files)
  }

  async close(): Promise<void> {
    this.files.set(this.name, this.bytes)
  }

  async abort(): Promise<void> {
    this.#position = 0
  }
}

/** Counts bytes and forgets them; for dry runs, benchmarks and tests with files larger than any disk. */
export class CountingSink implements ByteSink {
  readonly name = 'nowhere'
  readonly canPatch = true
  position = 0

  async write(bytes: Uint8Array): Promise<void> {
    this.position += bytes.byteLength
  }

  async patch(): Promise<void> {}

  async sibling(): Promise<ByteSink> {
    return new CountingSink()
  }

  async close(): Promise<void> {}
  async abort(): Promise<void> {}
}
