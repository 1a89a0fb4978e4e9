// A payload that other threads make, a stretch each, while this one writes what is ready. The bytes and their order are the same.
import { defaultWindow } from '../bytes/index.js'
import { type Payload, type Recipe, rechunked } from '../model/index.js'
import { recipeOf } from '../model/recipe-of.js'
import {
  canShareMemory,
  type Job,
  type JobHandler,
  releaseSharedWindow,
  runInOrder,
  takeSharedWindow,
  type WorkerPool,
} from '../pool/index.js'
import { fileOf } from './map-elements.js'
import { rebuildPayload } from './rebuild.js'

/**
 * About so much is made by one job: long enough that handing it over costs nothing, short enough that all threads have one. Blocks are small
 * and take a search.
 */
const stretchSize = 4 * defaultWindow
export const blockStretch = stretchSize / 16
/** So much at a time, to be copied while it is in the nearest cache. */
const pieceSize = defaultWindow / 4

interface StretchData {
  readonly recipe: Recipe
  readonly offset: number
  readonly length: number
}

/** The payload itself where other threads cannot make it, or it is too short to be shared out. */
export function pooled(payload: Payload, pool: WorkerPool | undefined, size = stretchSize): Payload {
  const { stretches, byteLength } = payload
  if (!pool || !stretches || !isRecoded(payload) || byteLength < 2 * size || !canShareMemory()) return payload
  const recipe = recipeOf(payload)
  if (!recipe) return payload
  const step = Math.max(1, Math.floor(size / stretches.grain)) * stretches.grain
  const file = fileOf(payload)
  return {
    ...payload,
    isMadeElsewhere: true,
    chunks: (window, signal) => rechunked(makeStretches({ recipe, byteLength, step, file }, pool, signal), window),
  }
}

/** Its bytes are computed, and other threads can do that. */
export const isRecoded = (payload: Payload): boolean => payload.recipe !== undefined && payload.stretches !== undefined

interface Work {
  readonly recipe: Recipe
  readonly byteLength: number
  readonly step: number
  readonly file: string
}

async function* makeStretches(
  { recipe, byteLength, step, file }: Work,
  pool: WorkerPool,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  const ahead = Math.min(pool.threads + 1, Math.ceil(byteLength / step))
  const windows = Array.from({ length: ahead + 1 }, () => takeSharedWindow(step))
  const lengthAt = (place: number): number => Math.min(step, byteLength - place * step)
  // A window is taken again only when its stretch has been given out and used.
  function* jobs(): Generator<Job> {
    for (let place = 0; place * step < byteLength; place++) {
      const data: StretchData = { recipe, offset: place * step, length: lengthAt(place) }
      yield { kind: 'stretch', data, window: windows[place % windows.length], file, offset: place * step }
    }
  }
  let place = 0
  try {
    for await (const _ of runInOrder(pool, jobs(), { signal, ahead })) {
      yield windows[place % windows.length]!.subarray(0, lengthAt(place))
      place++
    }
  } finally {
    for (const window of windows) releaseSharedWindow(window) // no job runs any more
  }
}

/** The other side. */
export const makeStretch: JobHandler = async (data, window, { open, signal, advance }) => {
  const { recipe, offset, length } = data as StretchData
  let at = 0
  for await (const chunk of rebuildPayload(recipe, open).stretches!.take(offset, length).chunks(pieceSize, signal)) {
    window!.set(chunk, at)
    at += chunk.byteLength
    advance(chunk.byteLength)
  }
  if (at !== length) throw new Error(`${length} bytes were to be made, there are ${at}`)
}
