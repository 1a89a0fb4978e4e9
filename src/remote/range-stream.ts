// One range of a file on its way from a server. It is read in pieces, as far as somebody wants it; when the connection breaks, the rest is
// asked for again from where it stopped.
import { failWith } from '../errors/index.js'
import { type BodyOptions, nextChunk } from './body.js'
import { remoteCodes } from './codes.js'
import { BrokenConnection, withRetries } from './retry.js'

/** Asks for bytes `first` to `last`; the answer is that range and no other. */
export type AskRange = (first: number, last: number, signal: AbortSignal) => Promise<Response>

type Reader = ReadableStreamDefaultReader<Uint8Array>

const nothing = new Uint8Array(0)

export class RangeStream {
  readonly #url: URL
  readonly #ask: AskRange
  readonly #options: BodyOptions
  readonly #end: number
  #reader: Reader | undefined
  /** What came but was not wanted yet. */
  #rest: Uint8Array = nothing
  /** The offset of the next byte. */
  position: number

  constructor(url: URL, ask: AskRange, options: BodyOptions, start: number, end: number) {
    this.#url = url
    this.#ask = ask
    this.#options = options
    this.#end = end
    this.position = start
  }

  get isAtEnd(): boolean {
    return this.position === this.#end
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

  /** The next piece. An answer that ends early is followed by another for the rest, as long as something comes at all. */
  async #receive(signal: AbortSignal): Promise<Uint8Array> {
    for (let hasReader = this.#reader !== undefined; ; hasReader = false) {
      this.#reader ??= (await this.#ask(this.position, this.#end - 1, signal)).body?.getReader() as Reader | undefined
      const chunk = this.#reader && (await nextChunk(this.#reader, this.#options, signal))
      if (chunk) return chunk
      this.#reader = undefined
      if (!hasReader) throw new BrokenConnection(`the connection ended ${this.#end - this.position} bytes early`)
    }
  }

  /** What comes behind the range was not asked for, so that what came before it is not to be trusted either. */
  async #assertOver(): Promise<void> {
    const isMore =
      this.#rest.byteLength > 0 ||
      (this.#reader && (await nextChunk(this.#reader, this.#options, new AbortController().signal)) !== undefined)
    this.#reader = undefined
    if (!isMore) return
    const message = 'more bytes came than were asked for'
    failWith(remoteCodes['range-mismatch'], { file: this.#url.href, offset: this.position, message })
  }

  async cancel(): Promise<void> {
    const reader = this.#reader
    this.#reader = undefined
    this.#rest = nothing
    await reader?.cancel().catch(() => {})
  }
}
