// Streams bytes to other threads through a ring of windows in shared memory. The writer waits while all windows are full, a reader while
// none is; every reader gets all bytes.
import { canShareMemory, takeSharedWindow } from './shared-window.js'

export const streamWindow = 1 << 20
const windowCount = 8

/** Indexes into the shared control array; after these, the number of windows that each reader has consumed. */
const filled = 0
const ended = 1
const lengths = 2
const emptied = lengths + windowCount

/** What a reader needs. */
export interface StreamPort {
  readonly control: Int32Array
  readonly reader: number
}

export class StreamWriter {
  readonly ring = takeSharedWindow(streamWindow * windowCount)
  readonly #control: Int32Array
  readonly #readers: number
  /** The number of full windows, and the bytes in the current one. */
  #full = 0
  #used = 0

  constructor(readers: number) {
    this.#readers = readers
    this.#control = new Int32Array(new SharedArrayBuffer(4 * (emptied + readers)))
  }

  port(reader: number): StreamPort {
    return { control: this.#control, reader }
  }

  static readonly isPossible = (): boolean => canShareMemory()

  /** Undefined if it did not have to wait. `gone` settles when a reader has ended. */
  write(bytes: Uint8Array, gone: Promise<unknown>): Promise<void> | undefined {
    let done = 0
    while (done < bytes.byteLength) {
      if (!this.#hasRoom()) return this.#writeRest(bytes.subarray(done), gone)
      done += this.#put(bytes.subarray(done))
    }
    return undefined
  }

  async #writeRest(bytes: Uint8Array, gone: Promise<unknown>): Promise<void> {
    for (let done = 0; done < bytes.byteLength; done += this.#put(bytes.subarray(done))) {
      while (!this.#hasRoom()) await this.#wait(gone)
    }
  }

  /** Space for the next bytes, to be filled in place; a partly filled window is passed on first. `commit` must follow. */
  async reserve(length: number, gone: Promise<unknown>): Promise<Uint8Array> {
    if (this.#used > 0) this.#pass()
    while (!this.#hasRoom()) await this.#wait(gone)
    const start = (this.#full % windowCount) * streamWindow
    return this.ring.subarray(start, start + Math.min(length, streamWindow))
  }

  commit(length: number): void {
    this.#used = length
    this.#pass()
  }

  #hasRoom(): boolean {
    return this.#used > 0 || this.#slowest() === undefined
  }

  /** A reader that has not yet emptied the window to be filled next. */
  #slowest(): number | undefined {
    for (let reader = 0; reader < this.#readers; reader++) {
      if (this.#full - Atomics.load(this.#control, emptied + reader) >= windowCount) return reader
    }
    return undefined
  }

  #put(bytes: Uint8Array): number {
    const part = bytes.subarray(0, streamWindow - this.#used)
    this.ring.set(part, (this.#full % windowCount) * streamWindow + this.#used)
    this.#used += part.byteLength
    if (this.#used === streamWindow) this.#pass()
    return part.byteLength
  }

  #pass(): void {
    const control = this.#control
    Atomics.store(control, lengths + (this.#full % windowCount), this.#used)
    this.#full++
    this.#used = 0
    Atomics.store(control, filled, this.#full)
    Atomics.notify(control, filled)
  }

  async #wait(gone: Promise<unknown>): Promise<void> {
    const reader = this.#slowest()
    if (reader === undefined) return
    const seen = this.#full - windowCount
    // Polls where `waitAsync` is not available.
    const { waitAsync } = Atomics as { waitAsync?: (a: Int32Array, i: number, v: number) => { value: unknown } }
    const emptiedOne = waitAsync
      ? waitAsync(this.#control, emptied + reader, seen).value
      : new Promise((resolve) => setTimeout(resolve, 1))
    await Promise.race([emptiedOne, gone])
  }

  /** No bytes follow. */
  end(): void {
    if (this.#used > 0) this.#pass()
    Atomics.store(this.#control, ended, 1)
    Atomics.notify(this.#control, filled)
  }
}

/** The reader's side. A window is valid until the next one is requested. `isWanted` is polled while nothing arrives. */
export function* readStream(
  { control, reader }: StreamPort,
  ring: Uint8Array,
  isWanted: () => boolean,
): Generator<Uint8Array, void, void> {
  for (let seen = 0; ; seen++) {
    while (Atomics.load(control, filled) === seen) {
      if (Atomics.load(control, ended) === 1 && Atomics.load(control, filled) === seen) return
      if (!isWanted()) return
      Atomics.wait(control, filled, seen, 50)
    }
    const place = seen % windowCount
    yield ring.subarray(place * streamWindow, place * streamWindow + Atomics.load(control, lengths + place))
    Atomics.store(control, emptied + reader, seen + 1)
    Atomics.notify(control, emptied + reader)
  }
}
