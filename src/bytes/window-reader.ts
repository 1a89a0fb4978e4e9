// The part of a file that a parser has at hand. A parser that goes on where it was gets larger and larger windows, so that a long index takes
// few reads; one that jumps over a tensor's data gets a small one behind the jump, so that a file of many gigabytes is listed by reading
// little more than its index. Parsers ask for bytes before they look at them, or run as steps that are repeated when they ran out.
import type { ByteSource } from './source.js'

export interface WindowOptions {
  readonly signal?: AbortSignal | undefined
  /** Where the part of the file ends that may be read; default: the end of the file. */
  readonly end?: number | undefined
  /** The size of the first window, and of one behind a jump. */
  readonly min?: number | undefined
  readonly max?: number | undefined
  /** Everything that was read stays at hand, for parsers that come back to it. */
  readonly keep?: boolean | undefined
}

const defaultMin = 4096
const defaultMax = 1 << 20
/** Reading this much costs no more than another read, so passing over less is not a jump. */
const nearby = 1 << 15

/** Thrown by a step that needs bytes which the file has and the window does not. */
export class Shortage {
  readonly offset: number
  readonly length: number

  constructor(offset: number, length: number) {
    this.offset = offset
    this.length = length
  }
}

export class WindowReader {
  readonly source: ByteSource
  /** Where the readable part of the file ends. */
  readonly end: number
  bytes: Uint8Array = new Uint8Array(0)
  view: DataView = new DataView(new ArrayBuffer(0))
  /** The place of the first byte at hand. */
  offset = 0
  readonly #signal: AbortSignal | undefined
  readonly #min: number
  readonly #max: number
  readonly #keep: boolean
  #size: number

  constructor(source: ByteSource, { signal, end = source.size, min, max, keep = false }: WindowOptions = {}) {
    this.source = source
    this.end = end
    this.#signal = signal
    this.#min = min ?? defaultMin
    this.#max = max ?? defaultMax
    this.#keep = keep
    this.#size = this.#min / 2
  }

  holds(offset: number, length: number): boolean {
    return offset >= this.offset && offset + length <= this.offset + this.bytes.byteLength
  }

  /** Brings these bytes, which the file has, and more behind them. */
  async reach(offset: number, length: number): Promise<void> {
    if (this.holds(offset, length)) return
    const reached = this.offset + this.bytes.byteLength
    const isJump = offset < this.offset || offset - reached > nearby
    this.#size = isJump && !this.#keep ? this.#min : Math.min(this.#max, 2 * this.#size)
    const start = this.#keep ? reached : offset
    // What did not fit a window and is read again gets twice as much: growing little by little, a long record would be read many times.
    const wanted = Math.max(offset + length - start, this.#size, 2 * (isJump ? 0 : reached - start))
    const count = Math.min(wanted, this.end - start)
    if (this.#keep && reached > this.offset) this.bytes = await this.#extended(start, count)
    else this.bytes = await this.source.read(start, count, { signal: this.#signal })
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength)
    if (!this.#keep) this.offset = offset
  }

  /** What is at hand and the bytes behind it, in one buffer. */
  async #extended(start: number, length: number): Promise<Uint8Array> {
    const { source } = this
    const both = new Uint8Array(this.bytes.byteLength + length)
    both.set(this.bytes)
    const rest = both.subarray(this.bytes.byteLength)
    if (source.readInto) await source.readInto(start, rest, { signal: this.#signal })
    else rest.set(await source.read(start, length, { signal: this.#signal }))
    return both
  }

  /** Bytes that are at hand, without a copy. */
  slice(offset: number, length: number): Uint8Array {
    return this.bytes.subarray(offset - this.offset, offset - this.offset + length)
  }

  /** Keeps a copy of what lies before `end` and lets go of the rest. */
  cutAt(end: number): void {
    this.bytes = this.bytes.slice(0, end - this.offset)
    this.view = new DataView(this.bytes.buffer)
  }

  /** Repeats a step whenever it has thrown a shortage and the bytes have come. It must not change anything before it has all of them. */
  async whole<T>(step: () => T): Promise<T> {
    for (;;) {
      try {
        return step()
      } catch (error) {
        if (!(error instanceof Shortage)) throw error
        await this.reach(error.offset, error.length)
      }
    }
  }
}
