// What was fetched from a server, in blocks of 64 KiB. Small reads over a network are made larger: a read asks for all missing blocks that
// it touches in one request, and recent blocks stay in memory. Whoever reads on and on says how far, or shows it by going on where
// the last request ended, and gets it from one long request, of which only a block at a time is held. A store can keep blocks
// beyond the process.
import type { RangeStream } from './range-stream.js'

export interface RangeStore {
  /** The blocks that are there. */
  list(key: string): Promise<Set<number>>
  /** The block, or undefined when it is not there or does not pass its own check. */
  get(key: string, block: number): Promise<Uint8Array | undefined>
  put(key: string, block: number, bytes: Uint8Array): Promise<void>
}

export const blockSize = 65_536
/** What servers and proxies take as one request. */
export const largestRequest = 64 * 2 ** 20
const keptBlocks = 256
/** Reads that go on for so long are not kept in memory. */
const largeRead = 4 * 2 ** 20
/** Requests that are open at a time, for those who read several things side by side. */
const maxStreams = 4
/** Blocks on their way into the store, while the next ones come. */
const maxWriting = 16

export interface Wanted {
  readonly offset: number
  readonly target: Uint8Array
  /** How many bytes behind the target will be wanted next. */
  readonly ahead: number
  readonly signal: AbortSignal
}

export class BlockCache {
  readonly #size: number
  readonly #request: (start: number, end: number) => RangeStream
  readonly #key: string | undefined
  readonly #store: RangeStore | undefined
  readonly #blocks = new Map<number, Uint8Array>()
  #stored: Promise<Set<number>> | undefined
  #streams: RangeStream[] = []
  readonly #writing = new Set<Promise<void>>()
  /** The last request: the block behind it, and how many it asked for. */
  #last = { end: -1, count: 0 }

  /** `key` names the state of the file; without one nothing is stored beyond this object. */
  constructor(
    size: number,
    request: (start: number, end: number) => RangeStream,
    key: string | undefined,
    store: RangeStore | undefined,
  ) {
    this.#size = size
    this.#request = request
    this.#key = key
    this.#store = key === undefined ? undefined : store
  }

  async readInto(wanted: Wanted): Promise<void> {
    const { offset, target, ahead } = wanted
    const end = offset + target.byteLength
    const isLong = target.byteLength + ahead >= largeRead
    for (let at = offset; at < end; ) {
      const block = Math.floor(at / blockSize)
      const bytes = (await this.#find(block)) ?? (await this.#fetch(block, wanted))
      const from = at - block * blockSize
      const part = bytes.subarray(from, from + end - at)
      target.set(part, at - offset)
      at += part.byteLength
      // A block in the middle of something long is not wanted again soon.
      if (isLong && from + part.byteLength === bytes.byteLength) this.#blocks.delete(block)
      else this.#keep(block, bytes)
    }
  }

  async #find(block: number): Promise<Uint8Array | undefined> {
    const known = this.#blocks.get(block)
    if (known || !this.#store) return known
    this.#stored ??= this.#store.list(this.#key!)
    if (!(await this.#stored).has(block)) return undefined
    const stored = await this.#store.get(this.#key!, block)
    if (stored?.byteLength === this.#lengthOf(block)) return stored
    ;(await this.#stored).delete(block)
    return undefined
  }

  async #fetch(block: number, wanted: Wanted): Promise<Uint8Array> {
    const start = block * blockSize
    const open = this.#streams.find((stream) => stream.position === start)
    const stream = open ?? this.#request(start, await this.#endOfRun(block, wanted))
    // While it is read from, nobody else can find it.
    this.#streams = this.#streams.filter((each) => each !== open)
    const bytes = new Uint8Array(this.#lengthOf(block))
    await stream.readInto(bytes, wanted.signal)
    if (!stream.isAtEnd) this.#streams.push(stream)
    if (this.#streams.length > maxStreams) await this.#streams.shift()!.cancel()
    if (this.#store) await this.#write(this.#store, block, bytes)
    return bytes
  }

  async #write(store: RangeStore, block: number, bytes: Uint8Array): Promise<void> {
    const writing = store.put(this.#key!, block, bytes).finally(() => this.#writing.delete(writing))
    this.#writing.add(writing)
    while (this.#writing.size >= maxWriting) await Promise.race(this.#writing)
  }

  /** Blocks that are missing and will be wanted come together, up to one that is there. */
  async #endOfRun(block: number, { offset, target, ahead }: Wanted): Promise<number> {
    const wanted = Math.ceil((offset + target.byteLength + ahead) / blockSize) - block
    // What is not read of a request does not come, so that guessing too much costs little.
    const guessed = block === this.#last.end ? 2 * this.#last.count : 0
    const end = await this.#firstKnown(block, block + Math.min(Math.max(wanted, guessed), largestRequest / blockSize))
    this.#last = { end, count: end - block }
    return Math.min(end * blockSize, this.#size)
  }

  /** The first block behind `block` that is there already, or `most`. */
  async #firstKnown(block: number, most: number): Promise<number> {
    const stored = await this.#stored
    const last = Math.min(most, Math.ceil(this.#size / blockSize))
    let end = block + 1
    while (end < last && !this.#blocks.has(end) && !stored?.has(end)) end++
    return end
  }

  #lengthOf(block: number): number {
    return Math.min(blockSize, this.#size - block * blockSize)
  }

  /** The block that was used last is dropped last. */
  #keep(block: number, bytes: Uint8Array): void {
    this.#blocks.delete(block)
    this.#blocks.set(block, bytes)
    if (this.#blocks.size > keptBlocks) this.#blocks.delete(this.#blocks.keys().next().value!)
  }

  /** Ends requests that nobody read to their end. */
  async close(): Promise<void> {
    const streams = this.#streams
    this.#streams = []
    for (const stream of streams) await stream.cancel()
    await Promise.all(this.#writing)
  }
}
