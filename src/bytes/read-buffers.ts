// Buffers for short reads that run side by side, batch after batch. A buffer of its own for each read would be garbage that the engine
// notices late: listing an archive of many small members would take as much memory as the archive has bytes.
import type { ByteSource } from './source.js'

export class ReadBuffers {
  readonly #source: ByteSource
  readonly #signal: AbortSignal | undefined
  readonly #buffers: Uint8Array[] = []

  constructor(source: ByteSource, signal?: AbortSignal) {
    this.#source = source
    this.#signal = signal
  }

  /** The bytes are valid until the next read with the same index. */
  async read(index: number, offset: number, length: number): Promise<Uint8Array> {
    const [source, signal] = [this.#source, this.#signal]
    if (!source.readInto) return source.read(offset, length, { signal })
    const kept = this.#buffers[index]
    const buffer = kept && kept.byteLength >= length ? kept : new Uint8Array(length)
    this.#buffers[index] = buffer
    const target = buffer.subarray(0, length)
    await source.readInto(offset, target, { signal })
    return target
  }
}
