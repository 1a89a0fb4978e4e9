// A long range as several requests that are on their way at once: one connection to a store, or across an ocean, is slower than a network.
// The pieces are held in memory until they are read, in order.
import type { RangeStream } from './range-stream.js'

/** What is read piece by piece, from its start to its end. */
export type SequentialRange = Pick<RangeStream, 'position' | 'end' | 'isAtEnd' | 'readInto' | 'cancel'>

interface Piece {
  readonly bytes: Uint8Array
  readonly arrival: Promise<void>
}

const pieceSize = 8 << 20
const parallel = 4
/** Shorter ranges are one request: what is saved is less than what further requests cost. */
export const minParallel = 32 << 20

export class ParallelRanges implements SequentialRange {
  readonly #open: (start: number, end: number) => RangeStream
  readonly end: number
  readonly #stop = new AbortController()
  readonly #pieces: Piece[] = []
  /** Memory of a piece that was read, for the next one. */
  #free: Uint8Array | undefined
  /** Where the next request begins. */
  #next: number
  /** How much of the first piece was read. */
  #taken = 0
  position: number

  constructor(open: (start: number, end: number) => RangeStream, start: number, end: number) {
    this.#open = open
    this.end = end
    this.#next = start
    this.position = start
  }

  get isAtEnd(): boolean {
    return this.position === this.end
  }

  async readInto(target: Uint8Array, signal: AbortSignal): Promise<void> {
    const abort = (): void => this.#stop.abort(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    try {
      for (let done = 0; done < target.byteLength; ) {
        this.#request()
        const { bytes, arrival } = this.#pieces[0]!
        await arrival
        const part = bytes.subarray(this.#taken, this.#taken + target.byteLength - done)
        target.set(part, done)
        done += part.byteLength
        this.position += part.byteLength
        this.#taken += part.byteLength
        if (this.#taken < bytes.byteLength) continue
        this.#pieces.shift()
        this.#free = bytes
        this.#taken = 0
      }
    } catch (error) {
      await this.cancel()
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  #request(): void {
    while (this.#pieces.length < parallel && this.#next < this.end) {
      const end = Math.min(this.#next + pieceSize, this.end)
      const length = end - this.#next
      const bytes = this.#free?.byteLength === length ? this.#free : new Uint8Array(length)
      this.#free = undefined
      const arrival = this.#open(this.#next, end).readInto(bytes, this.#stop.signal)
      arrival.catch(() => {}) // thrown when it is its turn
      this.#pieces.push({ bytes, arrival })
      this.#next = end
    }
  }

  async cancel(): Promise<void> {
    this.#stop.abort()
    const pieces = this.#pieces.splice(0)
    await Promise.allSettled(pieces.map(({ arrival }) => arrival))
  }
}
