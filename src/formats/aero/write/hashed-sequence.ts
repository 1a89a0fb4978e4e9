// Payloads that are hashed while they are written, so that an index behind them can list their hashes in the same pass. When the result is
// wanted before all payloads were written, or after they were read out of order, they are read through once more.
import type { Payload } from '../../../model/index.js'
import { digestStream, type RunThreads, type StreamDigests, type Track } from '../../../threads/index.js'

export class HashedSequence {
  readonly #payloads: readonly Payload[]
  readonly #tracks: readonly Track[]
  readonly #threads: RunThreads | undefined
  readonly #length: number
  #running: StreamDigests | undefined
  #next = 0
  #result: Promise<readonly Uint8Array[]> | undefined
  /** Callers that ask at the same time share one reading. */
  #reading: Promise<void> | undefined

  /** Tracks count from the beginning of the first payload. */
  constructor(payloads: readonly Payload[], tracks: readonly Track[], threads?: RunThreads) {
    this.#payloads = payloads
    this.#tracks = tracks
    this.#threads = threads
    this.#length = payloads.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** The payload at a position; writing it counts for the hashes. */
  payload(i: number): Payload {
    const { byteLength } = this.#payloads[i]!
    return { byteLength, chunks: (window, signal) => this.#chunks(i, window, signal) }
  }

  async *#chunks(i: number, window: number, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    const payload = this.#payloads[i]!
    if (i === 0 && !this.#result) {
      this.#running?.abort()
      this.#running = this.#start()
      this.#next = 0
    }
    const digests = this.#next === i ? this.#running : undefined
    if (!digests) {
      yield* payload.chunks(window, signal)
      return
    }
    this.#running = undefined // until this payload is complete
    let isComplete = false
    try {
      yield* observed(payload, digests, window, signal)
      isComplete = true
    } finally {
      if (!isComplete) digests.abort()
    }
    this.#running = digests
    this.#next = i + 1
    if (this.#next === this.#payloads.length) this.#finish(digests)
  }

  #start(): StreamDigests {
    return digestStream(this.#tracks, { pool: this.#threads?.pool, length: this.#length, file: 'weights' })
  }

  #finish(digests: StreamDigests): void {
    this.#running = undefined
    this.#result = digests.finish()
    this.#result.catch(() => {}) // `result` hands out the error
  }

  /** The digests of each track. */
  async result(signal?: AbortSignal): Promise<readonly Uint8Array[]> {
    if (this.#payloads.length === 0 && !this.#result) this.#finish(this.#start())
    if (!this.#result) {
      this.#reading ??= this.#readThrough(signal).finally(() => {
        this.#reading = undefined
      })
      await this.#reading
    }
    return this.#result!
  }

  async #readThrough(signal?: AbortSignal): Promise<void> {
    for (const i of this.#payloads.keys()) for await (const _ of this.#chunks(i, 1 << 20, signal));
  }
}

function observed(
  payload: Payload,
  digests: StreamDigests,
  window: number,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  return (
    (payload.origin && digests.stream?.(payload.origin, window, signal)) ?? updated(payload, digests, window, signal)
  )
}

async function* updated(
  payload: Payload,
  digests: StreamDigests,
  window: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  for await (const chunk of payload.chunks(window, signal)) {
    const working = digests.update(chunk)
    if (working) await working
    yield chunk
  }
}
