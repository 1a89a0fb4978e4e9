// A file as pages, for parsers that jump about in it. The last few pages are kept.
import type { ByteSource } from './source.js'

const pageSize = 1 << 14
const maxPages = 256

export class PageReader {
  readonly #source: ByteSource
  readonly #base: number
  readonly #size: number
  readonly #signal: AbortSignal | undefined
  readonly #pages = new Map<number, Uint8Array>()

  /** The part of the source that begins at `base` and has `size` bytes. */
  constructor(source: ByteSource, base: number, size: number, signal: AbortSignal | undefined) {
    this.#source = source
    this.#base = base
    this.#size = size
    this.#signal = signal
  }

  /** Bytes that were checked to be inside. The result may be a view. */
  async read(at: number, length: number): Promise<Uint8Array> {
    if (length > pageSize) return this.#source.read(this.#base + at, length, { signal: this.#signal })
    const first = Math.floor(at / pageSize)
    const from = at - first * pageSize
    const page = await this.#page(first)
    if (from + length <= page.byteLength) return page.subarray(from, from + length)
    const both = new Uint8Array(length)
    both.set(page.subarray(from))
    const rest = length - (page.byteLength - from)
    both.set((await this.#page(first + 1)).subarray(0, rest), length - rest)
    return both
  }

  async #page(number: number): Promise<Uint8Array> {
    const known = this.#pages.get(number)
    if (known) return known
    const start = number * pageSize
    const length = Math.min(pageSize, this.#size - start)
    const page = await this.#source.read(this.#base + start, length, { signal: this.#signal })
    const [oldest] = this.#pages.keys()
    if (this.#pages.size >= maxPages && oldest !== undefined) this.#pages.delete(oldest)
    this.#pages.set(number, page)
    return page
  }
}
