// The content of a chunk, of which a stretch is in memory at a time: the index of a million tensors is longer than all that is kept of it.
import { type ByteSource, releaseWindow, takeWindow } from '../../../bytes/index.js'
import type { Chunk, ChunkContent } from '../control/chunk.js'

export const defaultWindow = 4 << 20

export class ContentWindow {
  readonly chunk: Chunk
  /** Of all the content. */
  readonly size: number
  /** The stretch, and where in the content it begins. */
  bytes: Uint8Array
  base = 0
  readonly #source: ByteSource | undefined
  readonly #least: number
  #buffer: Uint8Array | undefined

  private constructor(chunk: Chunk, bytes: Uint8Array, size: number, source?: ByteSource, least = size) {
    this.chunk = chunk
    this.bytes = bytes
    this.size = size
    this.#source = source
    this.#least = least
  }

  /** Content that is in memory already. */
  static over({ chunk, bytes }: ChunkContent): ContentWindow {
    return new ContentWindow(chunk, bytes, bytes.byteLength)
  }

  /** A chunk that is stored plainly, to be read in windows of at least so many bytes. Nothing is there before the first `moveTo`. */
  static of(chunk: Chunk, source: ByteSource, least = defaultWindow): ContentWindow {
    return new ContentWindow(chunk, new Uint8Array(0), chunk.length, source, least)
  }

  /** Whether the stretch reaches to the end of the content. */
  get isLast(): boolean {
    return this.base + this.bytes.byteLength === this.size
  }

  /** Goes on at `base`. What begins there and was too long for the last window gets a larger one. The last stretch is overwritten. */
  async moveTo(base: number, signal: AbortSignal | undefined): Promise<void> {
    const known = base === this.base ? this.bytes.byteLength : 0
    const length = Math.min(Math.max(this.#least, 2 * known), this.size - base)
    const buffer = this.#roomFor(length).subarray(0, length)
    const offset = this.chunk.offset + base
    if (this.#source!.readInto) await this.#source!.readInto(offset, buffer, { signal })
    else buffer.set(await this.#source!.read(offset, length, { signal }))
    this.bytes = buffer
    this.base = base
  }

  #roomFor(length: number): Uint8Array {
    if (this.#buffer && this.#buffer.byteLength >= length) return this.#buffer
    this.close()
    // What is longer than a window usually is comes seldom: nobody else would want the room that it leaves.
    if (length > this.#least) return new Uint8Array(length)
    this.#buffer = takeWindow(length)
    return this.#buffer
  }

  close(): void {
    if (this.#buffer) releaseWindow(this.#buffer)
    this.#buffer = undefined
  }
}
