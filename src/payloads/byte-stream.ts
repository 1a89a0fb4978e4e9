// The bytes of a payload, as many at a time as are wanted.
import type { Payload } from '../model/payload.js'

const windowBytes = 1 << 20

export class ByteStream {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array()

  constructor(payload: Payload, signal?: AbortSignal) {
    this.#chunks = payload.chunks(windowBytes, signal)[Symbol.asyncIterator]()
  }

  /** At least one byte, at most `max`; valid until the next call. */
  async take(max: number): Promise<Uint8Array> {
    if (this.#rest.byteLength === 0) {
      const { value, done } = await this.#chunks.next()
      if (done) throw new RangeError('a payload ended before its last run')
      this.#rest = value
    }
    const piece = this.#rest.subarray(0, max)
    this.#rest = this.#rest.subarray(piece.byteLength)
    return piece
  }

  async fill(target: Uint8Array): Promise<Uint8Array> {
    for (let at = 0; at < target.byteLength; ) {
      const piece = await this.take(target.byteLength - at)
      target.set(piece, at)
      at += piece.byteLength
    }
    return target
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }
}
