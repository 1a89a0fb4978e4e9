// Payloads that other threads make, begun one before their turn: otherwise those threads would have nothing to do while the last pieces of
// a payload are made and written. What is begun and not wanted after all is ended.
import type { Slot } from '../model/layout.js'
import type { Payload } from '../model/payload.js'

/** A payload that is longer keeps all threads busy for so long that its end does not count. */
const longPayload = 1 << 26

interface Begun {
  /** The number of its slot. */
  readonly place: number
  readonly chunks: AsyncIterator<Uint8Array>
  readonly first: Promise<IteratorResult<Uint8Array, unknown>>
}

export class EarlyStart {
  /** Goes through the slots ahead of the writer. */
  readonly #ahead: Iterator<Slot>
  #next = 0
  readonly #window: number
  readonly #signal: AbortSignal | undefined
  #begun: Begun | undefined

  constructor(slots: Iterable<Slot>, window: number, signal: AbortSignal | undefined) {
    this.#ahead = slots[Symbol.iterator]()
    this.#window = window
    this.#signal = signal
  }

  /** The chunks of the payload of slot number `place`. */
  chunks(place: number, payload: Payload): AsyncIterable<Uint8Array> {
    return payload.isMadeElsewhere ? this.#made(place, payload) : payload.chunks(this.#window, this.#signal)
  }

  /** Such a payload, begun before or now; the next one is begun. */
  async *#made(place: number, payload: Payload): AsyncGenerator<Uint8Array, void, void> {
    const { chunks, first } = this.#begun?.place === place ? this.#begun : this.#begin(place, payload)
    try {
      this.#begun = this.#beginAfter(place)
      for (let next = await first; !next.done; next = await chunks.next()) yield next.value
    } finally {
      await chunks.return?.()
    }
  }

  #begin(place: number, payload: Payload): Begun {
    const chunks = payload.chunks(this.#window, this.#signal)[Symbol.asyncIterator]()
    const first = chunks.next()
    first.catch(() => {}) // it is looked at when its turn comes
    return { place, chunks, first }
  }

  #beginAfter(place: number): Begun | undefined {
    for (let { done, value: slot } = this.#ahead.next(); !done; { done, value: slot } = this.#ahead.next()) {
      const at = this.#next++
      if (at <= place || slot.kind !== 'payload') continue
      const { payload } = slot
      return payload.isMadeElsewhere && payload.byteLength <= longPayload ? this.#begin(at, payload) : undefined
    }
    return undefined
  }

  /** Ends what was begun for nothing. */
  async end(): Promise<void> {
    const begun = this.#begun
    this.#begun = undefined
    await begun?.first.catch(() => {})
    await begun?.chunks.return?.()
  }
}
