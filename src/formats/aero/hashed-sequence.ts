// Payloads that are hashed while they go by. An index that lists hashes of data which lies before it can then be written in the same
// pass. Whoever asks for the result before all payloads went by, or after they were read out of order, gets it too: they are read
// through once more.
import type { Payload } from '../../model/index.js'
import { digestStream, type StreamDigests, type Track, type WorkerPool } from '../../pool/index.js'

export class HashedSequence {
  readonly #items: readonly Payload[]
  readonly #tracks: readonly Track[]
  readonly #pool: WorkerPool | undefined
  #running: StreamDigests | undefined
  #next = 0
  #result: Promise<readonly Uint8Array[]> | undefined
  /** Those who ask at the same time share one reading. */
  #reading: Promise<void> | undefined

  /** Tracks count from the beginning of the first item. */
  constructor(items: readonly Payload[], tracks: readonly Track[], pool?: WorkerPool) {
    this.#items = items
    this.#tracks = tracks
    this.#pool = pool
  }

  /** Item i, observed. */
  payload(i: number): Payload {
    const { byteLength } = this.#items[i]!
    return { byteLength, chunks: (window, signal) => this.#chunks(i, window, signal) }
  }

  async *#chunks(i: number, window: number, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    if (i === 0 && !this.#result) {
      this.#running?.abort()
      this.#running = this.#start()
      this.#next = 0
    }
    const digests = this.#next === i ? this.#running : undefined
    if (!digests) {
      yield* this.#items[i]!.chunks(window, signal)
      return
    }
    this.#running = undefined // until this item is complete
    let isComplete = false
    try {
      yield* observed(this.#items[i]!, digests, window, signal)
      isComplete = true
    } finally {
      if (!isComplete) digests.abort()
    }
    this.#running = digests
    this.#next = i + 1
    if (this.#next === this.#items.length) this.#finish(digests)
  }

  #start(): StreamDigests {
    const length = this.#items.reduce((sum, item) => sum + item.byteLength, 0)
    return digestStream(this.#tracks, { pool: this.#pool, length, file: 'weights' })
  }

  #finish(digests: StreamDigests): void {
    this.#running = undefined
    this.#result = digests.finish()
    this.#result.catch(() => {}) // whoever asks for it gets the error
  }

  /** The digests of each track. */
  async result(signal?: AbortSignal): Promise<readonly Uint8Array[]> {
    if (this.#items.length === 0 && !this.#result) this.#finish(this.#start())
    if (!this.#result) {
      this.#reading ??= this.#readThrough(signal).finally(() => {
        this.#reading = undefined
      })
      await this.#reading
    }
    return this.#result!
  }

  async #readThrough(signal?: AbortSignal): Promise<void> {
    for (let i = 0; i < this.#items.length; i++) {
      for await (const _ of this.#chunks(i, 1 << 20, signal));
    }
  }
}

function observed(
  item: Payload,
  digests: StreamDigests,
  window: number,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  return (item.origin && digests.stream?.(item.origin, window, signal)) ?? updated(item, digests, window, signal)
}

async function* updated(
  item: Payload,
  digests: StreamDigests,
  window: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of item.chunks(window, signal)) {
    const working = digests.update(chunk)
    if (working) await working
    yield chunk
  }
}
