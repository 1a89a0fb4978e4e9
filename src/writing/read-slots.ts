// How the payloads of slots are read: those that other threads make are started early, and small ones that lie near each other come with one
// read. Models have thousands of those, mostly in the order in which they lie in their file.
import type { ByteRange } from '../bytes/index.js'
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

/**
 * Starts the next payload that other threads make while the current one is written; otherwise those threads would be idle while its last
 * pieces are made and written. `end` stops a payload that was started and is not needed after all.
 */
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

  async end(): Promise<void> {
    const started = this.#started
    this.#started = undefined
    await started?.first.catch(() => {})
    await started?.chunks.return?.()
  }
}

/** Consecutive slots. With a range, it holds the payloads of all of them. */
export interface SlotRun {
  readonly slots: readonly Slot[]
  readonly range?: ByteRange
}

const smallPayload = 1 << 16
/** Reading this much in vain costs no more than another read. */
const near = 1 << 12
const maxRange = 1 << 20
const maxSlots = 1 << 8

/** The slots in runs: those whose payloads are small and near each other in one source, and every other slot by itself. */
export function* slotRuns(slots: Iterable<Slot>): Generator<SlotRun, void, void> {
  let run: Slot[] = []
  let range: ByteRange | undefined
  for (const slot of slots) {
    const origin = slot.kind === 'payload' ? smallRange(slot.payload) : undefined
    const joined = origin && range && joinedWith(range, origin)
    if (run.length > 0 && (slot.kind === 'payload' ? !joined : !range || run.length >= maxSlots)) {
      yield range ? { slots: run, range } : { slots: run }
      run = []
      range = undefined
    }
    run.push(slot)
    if (origin) range = joined ?? origin
  }
  if (run.length > 0) yield range ? { slots: run, range } : { slots: run }
}

function smallRange({ byteLength, origin }: Payload): ByteRange | undefined {
  return byteLength > 0 && byteLength <= smallPayload ? origin : undefined
}

/** Both ranges and what lies between them, unless they are too far apart. */
function joinedWith(range: ByteRange, { source, offset, length }: ByteRange): ByteRange | undefined {
  const end = range.offset + range.length
  const reach = offset + length - range.offset
  if (source !== range.source || offset < range.offset || offset > end + near || reach > maxRange) return undefined
  return { source, offset: range.offset, length: Math.max(range.length, reach) }
}

export const readRange = ({ source, offset, length }: ByteRange, signal?: AbortSignal): Promise<Uint8Array> =>
  source.read(offset, length, { signal })

/** The bytes of a payload in the range of its run. */
export function bytesOf(payload: Payload, range: ByteRange, bytes: Uint8Array): Uint8Array {
  const at = payload.origin!.offset - range.offset
  return bytes.subarray(at, at + payload.byteLength)
}
