// Caches a remote file in blocks of 64 KiB. A read fetches all missing blocks that it touches in one request, and recent blocks stay in
// memory. Sequential readers announce how far they will read, or continue where the last request ended; they are served from one long
// request, of which only one block at a time is held. A store can keep blocks beyond the process.
import { minParallel, ParallelRanges, type SequentialRange } from './parallel-ranges.js'
import type { RangeStream } from './range-stream.js'

export interface RangeStore {
  /** The stored blocks. */
  list(key: string): Promise<Set<number>>
  /** The block, or undefined if it is not stored or fails its check. */
  get(key: string, block: number): Promise<Uint8Array | undefined>
  put(key: string, block: number, bytes: Uint8Array): Promise<void>
}

export const blockSize = 65_536
/** Larger requests are refused by some servers and proxies. */
export const maxRequest = 64 * 2 ** 20
/** Of several requests at once. */
const maxRun = 512 * 2 ** 20
const keptBlocks = 256
/** Blocks of longer reads are not kept in memory. */
const largeRead = 4 * 2 ** 20
/** Concurrent requests, for callers that read several ranges side by side. */
const maxStreams = 4
/** Blocks being written to the store while the next ones arrive. */
const maxWriting = 16

export interface Wanted {
  readonly offset: number
  readonly target: Uint8Array
  /** How many bytes after the target will be read next. */
  readonly ahead: number
  /** Nothing behind that will be read. */
  readonly isLast: boolean
  readonly signal: AbortSignal
}

export class BlockCache {
  readonly #size: number
  readonly #request: (start: number, end: number) => RangeStream
  readonly #key: string | undefined
  readonly #store: RangeStore | undefined
  readonly #blocks = new Map<number, Uint8Array>()
  #stored: Promise<Set<number>> | undefined
  #streams: SequentialRange[] = []
  readonly #writing = new Set<Promise<void>>()
  /** The last request: the block after it, and how many blocks it asked for. */
  #last = { end: -1, count: 0 }

  /** `key` identifies the version of the file; without one nothing is stored beyond this object. */
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
      const known = await this.#find(block)
      if (!known && isLong && !this.#store && at === block * blockSize && end - at > blockSize) {
        at += await this.#fill(block, target.subarray(at - offset), wanted)
        continue
      }
      const bytes = known ?? (await this.#fetch(block, wanted))
      const from = at - block * blockSize
      const part = bytes.subarray(from, from + end - at)
      target.set(part, at - offset)
      at += part.byteLength
      // A block in the middle of a long read is not needed again soon.
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
    const bytes = new Uint8Array(this.#lengthOf(block))
    const stream = await this.#streamAt(block, wanted)
    await stream.readInto(bytes, wanted.signal)
    await this.#keepStream(stream)
    if (this.#store) await this.#write(this.#store, block, bytes)
    return bytes
  }

  /** Whole blocks that nobody keeps, without a copy; returns how many bytes they are. */
  async #fill(block: number, target: Uint8Array, wanted: Wanted): Promise<number> {
    const stream = await this.#streamAt(block, wanted)
    const blocks = Math.floor(Math.min(target.byteLength, stream.end - stream.position) / blockSize)
    const length = blocks * blockSize
    await stream.readInto(target.subarray(0, length), wanted.signal)
    await this.#keepStream(stream)
    return length
  }

  /** The request that goes on at a block, or a new one. Other reads must not use it meanwhile. */
  async #streamAt(block: number, wanted: Wanted): Promise<SequentialRange> {
    const start = block * blockSize
    const open = this.#streams.find((stream) => stream.position === start)
    this.#streams = this.#streams.filter((each) => each !== open)
    if (open) return open
    const end = await this.#endOfRun(block, wanted)
    return end - start < minParallel ? this.#request(start, end) : new ParallelRanges(this.#request, start, end)
  }

  async #keepStream(stream: SequentialRange): Promise<void> {
    if (!stream.isAtEnd) this.#streams.push(stream)
    if (this.#streams.length > maxStreams) await this.#streams.shift()!.cancel()
  }

  async #write(store: RangeStore, block: number, bytes: Uint8Array): Promise<void> {
    const writing = store.put(this.#key!, block, bytes).finally(() => this.#writing.delete(writing))
    this.#writing.add(writing)
    while (this.#writing.size >= maxWriting) await Promise.race(this.#writing)
  }

  /** Missing blocks that will be read are fetched together, up to the next known one. */
  async #endOfRun(block: number, { offset, target, ahead, isLast }: Wanted): Promise<number> {
    const wanted = Math.ceil((offset + target.byteLength + ahead) / blockSize) - block
    // The unread rest of a request is hardly transferred, so asking for too much costs little.
    const guessed = block === this.#last.end && !isLast ? Math.min(2 * this.#last.count, maxRequest / blockSize) : 0
    const end = await this.#firstKnown(block, block + Math.min(Math.max(wanted, guessed), maxRun / blockSize))
    this.#last = { end, count: end - block }
    return Math.min(end * blockSize, this.#size)
  }

  /** The first known block after `block`, or `max`. */
  async #firstKnown(block: number, max: number): Promise<number> {
    const stored = await this.#stored
    const last = Math.min(max, Math.ceil(this.#size / blockSize))
    let end = block + 1
    while (end < last && !this.#blocks.has(end) && !stored?.has(end)) end++
    return end
  }

  #lengthOf(block: number): number {
    return Math.min(blockSize, this.#size - block * blockSize)
  }

  /** Drops the least recently used block. */
  #keep(block: number, bytes: Uint8Array): void {
    this.#blocks.delete(block)
    this.#blocks.set(block, bytes)
    if (this.#blocks.size > keptBlocks) this.#blocks.delete(this.#blocks.keys().next().value!)
  }

  /** Cancels requests that were not read to their end. */
  async close(): Promise<void> {
    const streams = this.#streams
    this.#streams = []
    for (const stream of streams) await stream.cancel()
    await Promise.all(this.#writing)
  }
}
