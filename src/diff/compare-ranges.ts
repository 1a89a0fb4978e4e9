// The stored bytes of many tensors, compared by several threads: where a pair first differs is known before its numbers are looked at.
import type { ByteSource, SourceHandle } from '../bytes/index.js'
import { type Payload, rangePayload } from '../model/index.js'
import { isSameRange } from '../model/same-range.js'
import { byteCosts } from '../threads/costs.js'
import { isWorthComputing, type Job, type JobHandler, runShared, type WorkerPool } from '../threads/index.js'
import { firstDifferentByte, type Watch } from './compare-bytes.js'

export type PayloadPair = readonly [Payload, Payload]

export interface PayloadPairs {
  readonly count: number
  /** Undefined where bytes do not decide. */
  pair(i: number): PayloadPair | undefined
}

/** So much of each side is compared by one job: little, so that all threads end at the same time. */
const taskBytes = 16 << 20

/** Stretches of pairs that lie in the same two sources. Lists of numbers: there can be a million. */
interface Task {
  readonly a: ByteSource
  readonly b: ByteSource
  bytes: number
  /** Of each stretch the number of its pair, and where in the payloads it begins. */
  readonly pairs: number[]
  readonly starts: number[]
  readonly places: number[]
}

/** Offset in one source, offset in the other and length, for each stretch. */
type Places = readonly number[] | Float64Array

/** Where each pair first differs, or -1, by its number. Pairs that threads cannot read are not among them, and none where it is not worth it. */
export async function firstDifferences(
  pairs: PayloadPairs,
  pool: WorkerPool | undefined,
  watch: (bytes: number) => Watch,
): Promise<ReadonlyMap<number, number>> {
  const found = new Map<number, number>()
  if (!pool || pool.threads < 2) return found
  let total = 0
  forEachShared(pairs, (_, [a]) => {
    total += a.byteLength
  })
  if (!isWorthComputing(pool, total * byteCosts.compare)) return found
  const tasks = tasksFor(pairs)
  const { signal, advance } = watch(2 * total)
  const results = await runShared(pool, {
    count: tasks.length,
    job: (t) => compareJob(tasks[t]!),
    here: (t, stop) => compareAll(tasks[t]!.a, tasks[t]!.b, tasks[t]!.places, { signal: stop, advance }),
    signal,
    onAdvance: advance,
  })
  for (const [t, { pairs: numbers, starts }] of tasks.entries()) {
    for (const [i, number] of numbers.entries()) {
      const place = results[t]![i]!
      if ((found.get(number) ?? -1) < 0) found.set(number, place < 0 ? -1 : starts[i]! + place)
    }
  }
  return found
}

/** The pairs that every thread can read. */
function forEachShared({ count, pair }: PayloadPairs, use: (i: number, pair: PayloadPair) => void): void {
  for (let i = 0; i < count; i++) {
    const both = pair(i)
    if (both && !isSameRange(...both) && both.every(({ origin }) => origin?.source.handle)) use(i, both)
  }
}

function tasksFor(pairs: PayloadPairs): Task[] {
  const tasks: Task[] = []
  forEachShared(pairs, (i, [{ origin: a }, { origin: b }]) => {
    for (let at = 0; at < a!.length; at += taskBytes) {
      const length = Math.min(taskBytes, a!.length - at)
      const last = tasks.at(-1)
      const isNext = last?.a === a!.source && last.b === b!.source && last.bytes + length <= taskBytes
      const task = isNext ? last : { a: a!.source, b: b!.source, bytes: 0, pairs: [], starts: [], places: [] }
      if (!isNext) tasks.push(task)
      task.bytes += length
      task.pairs.push(i)
      task.starts.push(at)
      task.places.push(a!.offset + at, b!.offset + at, length)
    }
  })
  return tasks
}

async function compareAll(a: ByteSource, b: ByteSource, places: Places, watch: Watch): Promise<Float64Array> {
  const found = new Float64Array(places.length / 3)
  for (let i = 0; i < found.length; i++) {
    const [offset, other, length] = [places[3 * i]!, places[3 * i + 1]!, places[3 * i + 2]!]
    found[i] = await firstDifferentByte(rangePayload(a, offset, length), rangePayload(b, other, length), watch)
  }
  return found
}

interface CompareData {
  readonly a: SourceHandle
  readonly b: SourceHandle
  readonly places: Float64Array
}

function compareJob({ a, b, places }: Task): Job {
  const data: CompareData = { a: a.handle!, b: b.handle!, places: Float64Array.from(places) }
  return { kind: 'compare', data, file: a.name, offset: places[0]! }
}

/** The other side. */
export const compareInWorker: JobHandler = (data, _, { open, signal, advance }) => {
  const { a, b, places } = data as CompareData
  return compareAll(open(a), open(b), places, { signal, advance })
}
