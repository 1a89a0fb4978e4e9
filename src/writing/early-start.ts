// Starts the next payload that other threads make while the current one is written; otherwise those threads would be idle while its last
// pieces are made and written.
import type { Slot } from '../model/layout.js'
import type { Payload } from '../model/payload.js'

/** A longer payload keeps all threads busy for so long that idle threads at its end do not matter. */
const longPayload = 1 << 26

interface Started {
  /** The index of its slot. */
  readonly index: number
  readonly chunks: AsyncIterator<Uint8Array>
  readonly first: Promise<IteratorResult<Uint8Array, unknown>>
}

export class EarlyStart {
  /** Runs ahead of the writer. */
  readonly #ahead: Iterator<Slot>
  #next = 0
  readonly #window: number
  readonly #signal: AbortSignal | undefined
  #started: Started | undefined

  constructor(slots: Iterable<Slot>, window: number, signal: AbortSignal | undefined) {
    this.#ahead = slots[Symbol.iterator]()
    this.#window = window
    this.#signal = signal
  }

  /** The chunks of the payload of the slot at `index`. */
  chunks(index: number, payload: Payload): AsyncIterable<Uint8Array> {
    return payload.isMadeElsewhere ? this.#made(index, payload) : payload.chunks(this.#window, this.#signal)
  }

  /** Takes the payload that was started before, or starts it now; then starts the next one. */
  async *#made(index: number, payload: Payload): AsyncGenerator<Uint8Array, void, void> {
    const { chunks, first } = this.#started?.index === index ? this.#started : this.#start(index, payload)
    try {
      this.#started = this.#startAfter(index)
      for (let next = await first; !next.done; next = await chunks.next()) yield next.value
    } finally {
      await chunks.return?.()
    }
  }

  #start(index: number, payload: Payload): Started {
    const chunks = payload.chunks(this.#window, this.#signal)[Symbol.asyncIterator]()
    const first = chunks.next()
    first.catch(() => {}) // handled when it is awaited
    return { index, chunks, first }
  }

  #startAfter(index: number): Started | undefined {
    for (let { done, value: slot } = this.#ahead.next(); !done; { done, value: slot } = this.#ahead.next()) {
      const at = this.#next++
      if (at <= index || slot.kind !== 'payload') continue
      const { payload } = slot
      return payload.isMadeElsewhere && payload.byteLength <= longPayload ? this.#start(at, payload) : undefined
    }
    return undefined
  }

  /** Stops a payload that was started and is not needed after all. */
  async end(): Promise<void> {
    const started = this.#started
    this.#started = undefined
    await started?.first.catch(() => {})
    await started?.chunks.return?.()
  }
}
