// Digests of many payloads. Ranges of files can be read and hashed by other threads; other payloads are produced in this thread and hashed
// on another where that is faster.
import { type ByteSource, defaultWindow, toHex } from '../bytes/index.js'
import { type Algorithm, createHasher } from '../digest/index.js'
import { failWith, ioCodes } from '../errors/index.js'
import type { Payload, Recipe } from '../model/index.js'
import { recipeOf } from '../model/payload.js'
import { makePacked } from '../packed/index.js'
import {
  digestChunks,
  digestRanges,
  isWorthThreads,
  type Job,
  type JobHandler,
  runMixed,
  type WorkerPool,
} from '../threads/index.js'
import { rebuildPayload } from '../transforms/rebuild.js'

export interface PayloadDigestOptions {
  /** The name used in progress and errors. */
  readonly name: string
  readonly pool?: WorkerPool | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

/** The digest of each payload, in hexadecimal. */
export async function digestPayloads(
  payloads: readonly Payload[],
  algorithm: Algorithm,
  options: PayloadDigestOptions,
): Promise<Map<Payload, string>> {
  const { name, pool, signal, onProgress } = options
  const total = payloads.reduce((sum, payload) => sum + payload.byteLength, 0)
  let done = 0
  const advance = (bytes: number): void => {
    done = Math.min(total, done + bytes)
    onProgress?.({ done, total, path: name })
  }
  const digests = new Map<Payload, string>()
  for (const [source, group] of rangesBySource(payloads)) {
    const wanted = group.map((payload) => {
      const { offset, length } = payload.origin!
      return { start: offset, end: offset + length, algorithm }
    })
    const digest = await digestRanges(source, wanted, { pool, signal, onRead: advance })
    for (const [i, payload] of group.entries()) digests.set(payload, toHex(digest(i)))
  }
  const made = payloads.filter((payload) => !digests.has(payload))
  // Other machines make what they hash; threads of this one get what is made here.
  const found = runMixed(made, {
    pool: pool?.isRemote && pool,
    job: (payload) => payloadJob(payload, algorithm),
    here: (payload, stop) => digestOne(payload, algorithm, { ...options, signal: stop }, advance),
    ...{ signal, onAdvance: advance },
  })
  let place = 0
  for await (const digest of found) digests.set(made[place++]!, digest)
  onProgress?.({ done: total, total, path: name })
  return digests
}

interface PayloadData {
  readonly recipe: Recipe
  readonly algorithm: Algorithm
}

function payloadJob(payload: Payload, algorithm: Algorithm): Job | undefined {
  const recipe = recipeOf(payload)
  const data: PayloadData | undefined = recipe && { recipe, algorithm }
  return data && { kind: 'payload', data, file: payload.origin?.source.name ?? 'tensor', offset: 0 }
}

/** Runs in a worker. */
export const digestInWorker: JobHandler = async (data, _, { open, signal, advance }) => {
  const { recipe, algorithm } = data as PayloadData
  const payload = rebuildPayload(recipe, open, { packed: makePacked })
  let reached = 0
  return digestPayload(payload, algorithm, signal, (length) => {
    advance(length - reached)
    reached = length
  })
}

function rangesBySource(payloads: readonly Payload[]): Map<ByteSource, Payload[]> {
  const groups = new Map<ByteSource, Payload[]>()
  for (const payload of payloads) {
    const source = payload.origin?.source
    if (!source) continue
    const group = groups.get(source)
    if (group) group.push(payload)
    else groups.set(source, [payload])
  }
  return groups
}

async function digestOne(
  payload: Payload,
  algorithm: Algorithm,
  { name, pool, signal }: PayloadDigestOptions,
  onAdvance: (bytes: number) => void,
): Promise<string> {
  if (algorithm !== 'blake3' || !isWorthThreads(payload.byteLength, pool)) {
    let reached = 0
    return digestPayload(payload, algorithm, signal, (length) => {
      onAdvance(length - reached)
      reached = length
    })
  }
  return toHex(await digestChunks(payload, { pool, file: name, signal, onAdvance }))
}

/** The digest of one payload, in this thread. `advance` gets the number of bytes so far. */
export async function digestPayload(
  payload: Payload,
  algorithm: Algorithm,
  signal?: AbortSignal,
  advance?: (bytes: number) => void,
): Promise<string> {
  const hasher = await createHasher(algorithm)
  let length = 0
  for await (const chunk of payload.chunks(defaultWindow, signal)) {
    hasher.update(chunk)
    length += chunk.byteLength
    advance?.(length)
  }
  if (length !== payload.byteLength) {
    const message = `${length} bytes of ${payload.byteLength} came`
    failWith(ioCodes['short-read'], { file: payload.origin?.source.name ?? '', message })
  }
  return toHex(hasher.digest())
}
