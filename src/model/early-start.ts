// Payloads that other threads make, begun one before their turn: otherwise those threads would have nothing to do while the last pieces of
// a payload are made and written. What is begun and not wanted after all is ended.
import type { Slot } from './layout.js'
import type { Payload } from './payload.js'

/** A payload that is longer keeps all threads busy for so long that its end does not count. */
const longPayload = 1 << 26

export class EarlyStart {
  readonly #slots: readonly Slot[]
  readonly #window: number
  readonly #signal: AbortSignal | undefined
  #begun: { readonly payload: Payload; readonly chunks: AsyncIterator<Uint8Array>; readonly first: Next } | undefined
  /** Where to look for the next one. */
  #place = 0

  constructor(slots: readonly Slot[], window: number, signal: AbortSignal | undefined) {
    this.#slots = slots
    this.#window = window
    this.#signal = signal
  }

  /** The chunks of the payload of slot number `place`; the next such payload is begun. */
  async *chunks(place: number, payload: Payload): AsyncGenerator<Uint8Array, void, void> {
    if (!payload.isMadeElsewhere) {
      yield* payload.chunks(this.#window, this.#signal)
      return
    }
    const { chunks, first } = this.#begun?.payload === payload ? this.#begun : this.#begin(payload)
    this.#begun = undefined
    try {
      this.#beginNext(place)
      for (let next = await first; !next.done; next = await chunks.next()) yield next.value
    } finally {
      await chunks.return?.()
    }
  }

  #begin(payload: Payload): { payload: Payload; chunks: AsyncIterator<Uint8Array>; first: Next } {
    const chunks = payload.chunks(this.#window, this.#signal)[Symbol.asyncIterator]()
    const first = chunks.next()
    first.catch(() => {}) // it is looked at when its turn comes
    return { payload, chunks, first }
  }

  #beginNext(place: number): void {
    this.#place = Math.max(this.#place, place + 1)
    for (; this.#place < this.#slots.length; this.#place++) {
      const slot = this.#slots[this.#place]!
      if (slot.kind !== 'payload') continue
      const { payload } = slot
      if (payload.isMadeElsewhere && payload.byteLength <= longPayload) this.#begun = this.#begin(payload)
      return
    }
  }

  /** Ends what was begun for nothing. */
  async end(): Promise<void> {
    const begun = this.#begun
    this.#begun = undefined
    await begun?.first.catch(() => {})
    await begun?.chunks.return?.()
  }
}

type Next = Promise<IteratorResult<Uint8Array, unknown>>
