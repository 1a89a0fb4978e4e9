// Small reads over a network are made larger: the file is cut into blocks of 64 KiB, a read fetches all blocks it touches in one
// request, and recent blocks stay in memory. Large reads go straight through. A store can keep blocks beyond the process.

export interface RangeStore {
  /** The block, or undefined when it is not there or does not pass its own check. */
  get(key: string, block: number): Promise<Uint8Array | undefined>
  put(key: string, block: number, bytes: Uint8Array): Promise<void>
}

type Fetch = (offset: number, target: Uint8Array, signal: AbortSignal | undefined) => Promise<void>

export const blockSize = 65_536
const keptBlocks = 256
/** Reads of this size and more are not kept in memory. */
const largeRead = 4 * 2 ** 20

export class BlockCache {
  readonly #size: number
  readonly #fetch: Fetch
  readonly #key: string | undefined
  readonly #store: RangeStore | undefined
  readonly #blocks = new Map<number, Uint8Array>()

  /** `key` names the state of the file; without one nothing is stored beyond this object. */
  constructor(size: number, fetch: Fetch, head: Uint8Array, key: string | undefined, store: RangeStore | undefined) {
    this.#size = size
    this.#fetch = fetch
    this.#key = key
    this.#store = key === undefined ? undefined : store
    if (head.byteLength === Math.min(blockSize, size)) this.#blocks.set(0, head)
  }

  async readInto(offset: number, target: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    if (target.byteLength === 0) return
    if (target.byteLength >= largeRead && !this.#store) return this.#fetch(offset, target, signal)
    const first = Math.floor(offset / blockSize)
    const last = Math.floor((offset + target.byteLength - 1) / blockSize)
    // Missing blocks that follow one another are fetched together.
    for (let block = first; block <= last; ) {
      const known = await this.#find(block)
      if (known) {
        this.#copy(block, known, offset, target)
        block++
        continue
      }
      let end = block + 1
      while (end <= last && end - block < largeRead / blockSize && !(await this.#find(end))) end++
      const bytes = new Uint8Array(Math.min(end * blockSize, this.#size) - block * blockSize)
      await this.#fetch(block * blockSize, bytes, signal)
      for (; block < end; block++) {
        const start = bytes.byteLength - (Math.min(end * blockSize, this.#size) - block * blockSize)
        const one = bytes.slice(start, start + blockSize)
        this.#keep(block, one)
        if (this.#store) await this.#store.put(this.#key!, block, one)
        this.#copy(block, one, offset, target)
      }
    }
  }

  async #find(block: number): Promise<Uint8Array | undefined> {
    const known = this.#blocks.get(block)
    if (known) {
      this.#blocks.delete(block) // put last again: the oldest is dropped first
      this.#blocks.set(block, known)
      return known
    }
    const stored = await this.#store?.get(this.#key!, block)
    if (stored?.byteLength !== Math.min(blockSize, this.#size - block * blockSize)) return undefined
    this.#keep(block, stored)
    return stored
  }

  #keep(block: number, bytes: Uint8Array): void {
    this.#blocks.set(block, bytes)
    if (this.#blocks.size > keptBlocks) this.#blocks.delete(this.#blocks.keys().next().value!)
  }

  #copy(block: number, bytes: Uint8Array, offset: number, target: Uint8Array): void {
    const start = block * blockSize
    const from = Math.max(start, offset)
    const to = Math.min(start + bytes.byteLength, offset + target.byteLength)
    if (from < to) target.set(bytes.subarray(from - start, to - start), from - offset)
  }
}
