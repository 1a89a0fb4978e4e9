// Payloads that are hashed while they go by. An index that lists hashes of data which lies before it can then be written in the same
// pass. Whoever asks for the result before all payloads went by, or after they were read out of order, gets it too: they are read
// through once more.
import type { Payload } from '../../../model/index.js'
import { digestStream, type StreamDigests, type Track, type WorkerPool } from '../../../threads/index.js'

export interface Sequence {
  /** Whoever goes through them again gets the same bytes. */
  readonly items: Iterable<Payload>
  /** How many there are, and how many bytes they have together. */
  readonly count: number
  readonly length: number
}

export class HashedSequence {
  readonly #sequence: Sequence
  readonly #tracks: readonly Track[]
  readonly #pool: WorkerPool | undefined
  #running: StreamDigests | undefined
  #next = 0
  #result: Promise<readonly Uint8Array[]> | undefined
  /** Those who ask at the same time share one reading. */
  #reading: Promise<void> | undefined

  /** Tracks count from the beginning of the first item. */
  constructor(sequence: Sequence, tracks: readonly Track[], pool?: WorkerPool) {
    this.#sequence = sequence
    this.#tracks = tracks
    this.#pool = pool
  }

  /** Item i, observed. */
  payload(i: number, item: Payload): Payload {
    return { byteLength: item.byteLength, chunks: (window, signal) => this.#chunks(i, item, window, signal) }
  }

  async *#chunks(
    i: number,
    item: Payload,
    window: number,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, void> {
    if (i === 0 && !this.#result) {
      this.#running?.abort()
      this.#running = this.#start()
      this.#next = 0
    }
    const digests = this.#next === i ? this.#running : undefined
    if (!digests) {
      yield* item.chunks(window, signal)
      return
    }
    this.#running = undefined // until this item is complete
    let isComplete = false
    try {
      yield* observed(item, digests, window, signal)
      isComplete = true
    } finally {
      if (!isComplete) digests.abort()
    }
    this.#running = digests
    this.#next = i + 1
    if (this.#next === this.#sequence.count) this.#finish(digests)
  }

  #start(): StreamDigests {
    return digestStream(this.#tracks, { pool: this.#pool, length: this.#sequence.length, file: 'weights' })
  }

  #finish(digests: StreamDigests): void {
    this.#running = undefined
    this.#result = digests.finish()
    this.#result.catch(() => {}) // whoever asks for it gets the error
  }

  /** The digests of each track. */
  async result(signal?: AbortSignal): Promise<readonly Uint8Array[]> {
    if (this.#sequence.count === 0 && !this.#result) this.#finish(this.#start())
    if (!this.#result) {
      this.#reading ??= this.#readThrough(signal).finally(() => {
        this.#reading = undefined
      })
      await this.#reading
    }
    return this.#result!
  }

  async #readThrough(signal?: AbortSignal): Promise<void> {
    let i = 0
    for (const item of this.#sequence.items) for await (const _ of this.#chunks(i++, item, 1 << 20, signal));
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
