// The part of a file that a walk over it has at hand. Where the walk goes on closely, windows grow and the file is read in few large
// steps; where it jumps over a large payload, only a little is read behind the jump. So a file of many gigabytes is walked by reading
// some hundred bytes per payload.
import type { ByteSource } from '../../bytes/index.js'

/** Read behind a jump: enough for the fields between two payloads. */
const smallest = 256
const largest = 1 << 20
/** Reading this much costs no more than another read: a jump over less is no jump. */
export const nearby = 1 << 15

export class ProtobufWindow {
  bytes: Uint8Array = new Uint8Array(0)
  /** Offset of the first byte at hand. */
  offset = 0
  readonly #source: ByteSource
  readonly #signal: AbortSignal | undefined
  #size = smallest

  constructor(source: ByteSource, signal?: AbortSignal) {
    this.#source = source
    this.#signal = signal
  }

  holds(offset: number, length: number): boolean {
    return offset >= this.offset && offset + length <= this.offset + this.bytes.byteLength
  }

  /** Moves to `offset`, with at least `length` bytes; the caller knows that the file has them. */
  async move(offset: number, length: number): Promise<void> {
    const jump = offset - (this.offset + this.bytes.byteLength)
    this.#size = jump > nearby || jump < -largest ? smallest : Math.min(largest, 2 * this.#size)
    const size = Math.min(Math.max(this.#size, length), this.#source.size - offset)
    this.bytes = await this.#source.read(offset, size, { signal: this.#signal })
    this.offset = offset
  }
}
