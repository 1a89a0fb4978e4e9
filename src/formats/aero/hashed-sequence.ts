// Payloads that are hashed while they go by. An index that lists hashes of data which lies before it can then be written in the same
// pass. Whoever asks for the result before all payloads went by, or after they were read out of order, gets it too: they are read
// through once more.
import type { Payload } from '../../model/index.js'

/** Takes the bytes of all items in order. */
export interface Observer<R> {
  begin(item: number): void | Promise<void>
  update(bytes: Uint8Array): void | Promise<void>
  end(item: number): void
  result(): R
}

export class HashedSequence<R> {
  readonly #items: readonly Payload[]
  readonly #start: () => Promise<Observer<R>>
  #observer: Observer<R> | undefined
  #next = 0
  #result: { readonly value: R } | undefined

  constructor(items: readonly Payload[], start: () => Promise<Observer<R>>) {
    this.#items = items
    this.#start = start
  }

  /** Item i, observed. */
  payload(i: number): Payload {
    const { byteLength } = this.#items[i]!
    return { byteLength, chunks: (window, signal) => this.#chunks(i, window, signal) }
  }

  async *#chunks(i: number, window: number, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    if (i === 0 && !this.#result) {
      this.#observer = await this.#start()
      this.#next = 0
    }
    const observer = this.#next === i ? this.#observer : undefined
    this.#observer = undefined // until this item is complete
    await observer?.begin(i)
    for await (const chunk of this.#items[i]!.chunks(window, signal)) {
      const working = observer?.update(chunk)
      if (working) await working
      yield chunk
    }
    if (!observer) return
    observer.end(i)
    this.#observer = observer
    this.#next = i + 1
    if (this.#next === this.#items.length) this.#finish(observer)
  }

  #finish(observer: Observer<R>): void {
    this.#observer = undefined
    this.#result = { value: observer.result() }
  }

  async result(signal?: AbortSignal): Promise<R> {
    if (this.#items.length === 0 && !this.#result) this.#finish(await this.#start())
    if (!this.#result) {
      for (let i = 0; i < this.#items.length; i++) {
        for await (const _ of this.#chunks(i, 1 << 20, signal));
      }
    }
    return this.#result!.value
  }
}
