// Streams one range of a file from a server. It is read in pieces, as far as needed; if the connection breaks, the rest is requested again
// from where it stopped.
import { failWith } from '../errors/index.js'
import { type BodyOptions, nextChunk } from './body.js'
import { remoteCodes } from './codes.js'
import { Pace } from './pace.js'
import { nameOf } from './request.js'
import { BrokenConnection, withRetries } from './retry.js'

export interface SentRange {
  readonly response: Response
  /** Where the range of the response ends, which may be earlier than requested. */
  readonly end: number
}

/** Requests bytes `first` to `last`; the response is that range, or the beginning of it. */
export type AskRange = (first: number, last: number, signal: AbortSignal) => Promise<SentRange>

type Reader = ReadableStreamDefaultReader<Uint8Array>

const nothing = new Uint8Array(0)

export class RangeStream {
  readonly #url: URL
  readonly #ask: AskRange
  readonly #options: BodyOptions
  readonly end: number
  readonly #pace: Pace
  #reader: Reader | undefined
  /** The end that the current response announced. */
  #announced = 0
  /** Bytes that arrived but were not read yet. */
  #rest: Uint8Array = nothing
  /** The offset of the next byte. */
  position: number

  constructor(url: URL, ask: AskRange, options: BodyOptions, start: number, end: number) {
    this.#url = url
    this.#ask = ask
    this.#options = options
    this.end = end
    this.#pace = new Pace(nameOf(url, options), options)
    this.position = start
  }

  get isAtEnd(): boolean {
    return this.position === this.end
  }

  /** Fills the target with the next bytes. */
  async readInto(target: Uint8Array, signal: AbortSignal): Promise<void> {
    let done = 0
    await withRetries(this.#url, this.position, this.#options, signal, async (attempt) => {
      try {
        while (done < target.byteLength) {
          if (this.#rest.byteLength === 0) this.#rest = await this.#receive(attempt)
          const part = this.#rest.subarray(0, target.byteLength - done)
          target.set(part, done)
          done += part.byteLength
          this.position += part.byteLength
          this.#rest = this.#rest.subarray(part.byteLength)
        }
        if (this.isAtEnd) await this.#assertOver()
      } catch (error) {
        await this.cancel()
        throw error
      }
    })
  }

  /** The next chunk. A response that ends early is followed by another request for the rest, as long as anything arrives. */
  async #receive(signal: AbortSignal): Promise<Uint8Array> {
    for (let hasReader = this.#reader !== undefined; ; hasReader = false) {
      if (!this.#reader) {
        const { response, end } = await this.#ask(this.position, this.end - 1, signal)
        this.#reader = response.body?.getReader() as Reader | undefined
        this.#announced = end
      }
      const chunk = this.#reader && (await nextChunk(this.#reader, this.#options, this.#pace, signal))
      if (chunk && chunk.byteLength > this.#announced - this.position) this.#failTooMany()
      if (chunk) return chunk
      this.#reader = undefined
      if (!hasReader) throw new BrokenConnection(`the connection ended ${this.end - this.position} bytes early`)
    }
  }

  async #assertOver(): Promise<void> {
    const isMore =
      this.#reader &&
      (await nextChunk(this.#reader, this.#options, this.#pace, new AbortController().signal)) !== undefined
    this.#reader = undefined
    if (isMore) this.#failTooMany()
  }

  /** Bytes beyond the requested range mean that those before them cannot be trusted either. */
  #failTooMany(): never {
    const message = 'more bytes came than the answer announced'
    failWith(remoteCodes['range-mismatch'], { file: nameOf(this.#url, this.#options), offset: this.position, message })
  }

  async cancel(): Promise<void> {
    const reader = this.#reader
    this.#reader = undefined
    this.#rest = nothing
    await reader?.cancel().catch(() => {})
  }
}
