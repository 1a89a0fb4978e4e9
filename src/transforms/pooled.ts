// A payload that other threads produce in slices while this one writes what is ready. The bytes and their order are the same.
import { defaultWindow } from '../bytes/index.js'
import { type Payload, type Recipe, rechunked, type Slices } from '../model/index.js'
import { recipeOf } from '../model/payload.js'
import { threadCosts } from '../threads/costs.js'
import { fillsWindow, fillWindows, type JobHandler, type RunThreads, type WorkerPool } from '../threads/index.js'
import { fileOf } from './map-elements.js'
import { type Makers, rebuildPayload } from './rebuild.js'

/** The maximum length of a job's slice: several of them are in memory at once. */
const maxBytes = defaultWindow
/** Copied at a time, while it is in the nearest cache. */
const pieceSize = defaultWindow / 4

interface SliceData {
  readonly recipe: Recipe
  readonly offset: number
}

/** Returns the payload itself if other threads cannot produce it, or it is too short to share. `cost`: approximate nanoseconds per byte. */
export function pooled(payload: Payload, pool: WorkerPool, cost: number): Payload {
  const { slices, byteLength } = payload
  if (!slices || !isRecoded(payload)) return payload
  const share = Math.ceil(byteLength / (2 * pool.threads))
  const size = Math.min(maxBytes, Math.max(threadCosts.minSlice / cost, Math.min(threadCosts.slice / cost, share)))
  if (byteLength < 2 * size) return payload
  const recipe = recipeOf(payload)
  if (!recipe) return payload
  const step = Math.max(1, Math.floor(size / slices.unit)) * slices.unit
  const work = { recipe, step, file: fileOf(payload) }
  const made = (start: number, length: number): Pick<Payload, 'isMadeElsewhere' | 'chunks'> => ({
    isMadeElsewhere: true,
    chunks: (window, signal) => rechunked(makeSlices({ ...work, start, byteLength: length }, pool, signal), window),
  })
  const take = (offset: number, length: number): Payload => {
    const slice = slices.take(offset, length)
    return length < 2 * size ? slice : { byteLength: slice.byteLength, ...made(offset, length) }
  }
  const { cost: own, read } = payload
  const access = { cost: own, recipe: () => recipe, slices: { ...slices, take }, ...(read && { read }) }
  return { byteLength, ...access, ...made(0, byteLength) }
}

/** How threads make payloads, once there are any. */
export interface InThreads {
  readonly threads: RunThreads
  /** What making a byte takes; default: what the payload says. */
  readonly cost?: number | undefined
  /** The payload as threads make it, where that is worth it. */
  make(pool: WorkerPool, payload: Payload, cost: number): Payload | undefined
}

/** The same bytes. When they are read, threads produce them if there are any by then. */
export const late = (payload: Payload, inThreads: InThreads): Payload => new LatePayload(payload, inThreads)

/** A class with two fields: a model can have a million of these. */
class LatePayload implements Payload {
  readonly #payload: Payload
  readonly #inThreads: InThreads

  constructor(payload: Payload, inThreads: InThreads) {
    this.#payload = payload
    this.#inThreads = inThreads
  }

  get byteLength(): number {
    return this.#payload.byteLength
  }

  get cost(): number | undefined {
    return this.#inThreads.cost ?? this.#payload.cost
  }

  get #chosen(): Payload {
    const { pool } = this.#inThreads.threads
    return (pool && this.#inThreads.make(pool, this.#payload, this.cost ?? 0)) ?? this.#payload
  }

  get recipe(): Payload['recipe'] {
    return this.#payload.recipe
  }

  get read(): Payload['read'] {
    return this.#payload.read
  }

  get slices(): Slices | undefined {
    const { slices } = this.#payload
    return slices && { ...slices, take: (offset, length) => (this.#chosen.slices ?? slices).take(offset, length) }
  }

  get isMadeElsewhere(): boolean | undefined {
    return this.#chosen.isMadeElsewhere
  }

  chunks(window: number, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#chosen.chunks(window, signal)
  }
}

/** Whether the bytes are computed, and other threads can do so. */
export const isRecoded = (payload: Payload): boolean => payload.recipe !== undefined && payload.slices !== undefined

interface Work {
  readonly recipe: Recipe
  readonly start: number
  readonly byteLength: number
  readonly step: number
  readonly file: string
}

function makeSlices(
  { recipe, start, byteLength, step, file }: Work,
  pool: WorkerPool,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  return fillWindows(pool, {
    count: Math.ceil(byteLength / step),
    lengthOf: (place) => Math.min(step, byteLength - place * step),
    job: (place) => ({
      kind: 'slice',
      data: { recipe, offset: start + place * step } satisfies SliceData,
      file,
      offset: start + place * step,
    }),
    ahead: pool.threads + 1,
    signal,
  })
}

/** Runs in a worker. */
export const sliceMaker = (makers: Makers): JobHandler =>
  fillsWindow(async (data, bytes, { open, signal, advance }) => {
    const { recipe, offset } = data as SliceData
    const slice = rebuildPayload(recipe, open, makers).slices!.take(offset, bytes.byteLength)
    let at = 0
    for await (const chunk of slice.chunks(pieceSize, signal)) {
      bytes.set(chunk, at)
      at += chunk.byteLength
      advance(chunk.byteLength)
    }
    if (at !== bytes.byteLength) throw new Error(`${bytes.byteLength} bytes were to be made, there are ${at}`)
  })
