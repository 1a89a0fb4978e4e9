import type { ByteSource } from '../../bytes/index.js'

const shortest = 4096
const longest = 1 << 20

/**
 * A view onto a source that moves forwards. Records that follow each other are fetched in ever longer stretches; after a jump over a
 * tensor's data it starts small again, since only the next few fields are wanted there.
 */
export class StreamWindow {
  readonly size: number
  readonly #source: ByteSource
  readonly #signal: AbortSignal | undefined
  #bytes: Uint8Array = new Uint8Array(0)
  #view = new DataView(this.#bytes.buffer)
  #base = 0
  #length = shortest

  constructor(source: ByteSource, signal: AbortSignal | undefined) {
    this.size = source.size
    this.#source = source
    this.#signal = signal
  }

  /** Whether the file has these bytes at all. */
  exists(offset: number, length: number): boolean {
    return offset + length <= this.size
  }

  holds(offset: number, length: number): boolean {
    return offset >= this.#base && offset + length <= this.#base + this.#bytes.byteLength
  }

  /** Fetches bytes that exist. */
  async fetch(offset: number, length: number): Promise<void> {
    if (this.holds(offset, length)) return
    const follows = offset <= this.#base + this.#bytes.byteLength
    this.#length = follows ? Math.min(longest, this.#length * 2) : shortest
    const wanted = Math.min(Math.max(length, this.#length), this.size - offset)
    this.#bytes = await this.#source.read(offset, wanted, { signal: this.#signal })
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength)
    this.#base = offset
  }

  u32(offset: number): number {
    return this.#view.getUint32(offset - this.#base, true)
  }

  slice(offset: number, length: number): Uint8Array {
    return this.#bytes.subarray(offset - this.#base, offset - this.#base + length)
  }
}
