// The part of a long stretch of a file that whoever goes through it has at hand: the tables of a file with a million tensors are not held
// in memory all at once.
import type { ByteSource } from './source.js'
import { defaultWindow } from './window.js'

export class MovingWindow {
  bytes: Uint8Array = new Uint8Array(0)
  /** Offset of the first byte at hand. */
  offset = 0
  readonly #source: ByteSource
  readonly #end: number
  readonly #signal: AbortSignal | undefined

  /** `end`: where the stretch ends; windows do not go beyond. */
  constructor(source: ByteSource, end: number, signal: AbortSignal | undefined) {
    this.#source = source
    this.#end = end
    this.#signal = signal
  }

  /** Makes sure that these bytes are at hand; they are within the stretch. */
  async reach(offset: number, length: number): Promise<void> {
    if (offset >= this.offset && offset + length <= this.offset + this.bytes.byteLength) return
    const rest = this.#end - offset
    const size = Math.min(Math.max(defaultWindow, length), rest)
    this.bytes = await this.#source.read(offset, size, { signal: this.#signal, ahead: rest - size })
    this.offset = offset
  }

  /** What is at hand from an offset on, up to another. */
  from(offset: number, end: number): Uint8Array {
    return this.bytes.subarray(offset - this.offset, Math.max(offset, end) - this.offset)
  }
}
