// Compares the stored bytes of many pairs of tensors on several threads, before any numbers are compared.
import type { ByteSource, SourceHandle } from '../bytes/index.js'
import { type Payload, rangePayload } from '../model/index.js'
import { isSameRange } from '../model/payload.js'
import { byteCosts } from '../threads/costs.js'
import { isWorthComputing, type Job, type JobHandler, runShared, type WorkerPool } from '../threads/index.js'
import { firstDifferentByte, type Watch } from './compare-bytes.js'

export type PayloadPair = readonly [Payload, Payload]

/** How many bytes of each side one job compares: few, so that all threads finish at about the same time. */
const taskBytes = 16 << 20
/** A job with more would be too long a message. */
const maxSlices = 4096

/** A slice of a pair: its offsets in the two sources, and which part of which pair it is. */
interface Slice {
  readonly pair: number
  readonly start: number
  readonly a: number
  readonly b: number
  readonly length: number
}

/** Slices of pairs that lie in the same two sources. */
interface Task {
  readonly a: ByteSource
  readonly b: ByteSource
  readonly slices: Slice[]
  bytes: number
}

/**
 * Where each pair first differs, or -1, by its index. Pairs that are undefined or that other threads cannot read are left out, and all are
 * where threads are not worth their start.
 */
export async function firstDifferences(
  pairs: readonly (PayloadPair | undefined)[],
  pool: WorkerPool | undefined,
  watch: (bytes: number) => Watch,
): Promise<ReadonlyMap<number, number>> {
  const found = new Map<number, number>()
  if (!pool || pool.threads < 2) return found
  const total = pairs.reduce((sum, pair) => sum + (canShare(pair) ? pair[0].byteLength : 0), 0)
  if (!isWorthComputing(pool, total * byteCosts.compare)) return found
  const tasks = tasksFor(pairs)
  const { signal, advance } = watch(2 * total)
  const results = await runShared(pool, {
    count: tasks.length,
    job: (t) => compareJob(tasks[t]!),
    here: (t, stop) => compareAll(tasks[t]!.a, tasks[t]!.b, tasks[t]!.slices, { signal: stop, advance }),
    signal,
    onAdvance: advance,
  })
  for (const [t, { slices }] of tasks.entries()) {
    for (const [i, { pair, start }] of slices.entries()) {
      const at = results[t]![i]!
      if ((found.get(pair) ?? -1) < 0) found.set(pair, at < 0 ? -1 : start + at)
    }
  }
  return found
}

/** Whether other threads can read both sides, and they are not the same bytes anyway. */
const canShare = (pair: PayloadPair | undefined): pair is PayloadPair =>
  pair !== undefined && !isSameRange(...pair) && pair.every(({ origin }) => origin?.source.handle)

function tasksFor(pairs: readonly (PayloadPair | undefined)[]): Task[] {
  const tasks: Task[] = []
  for (const [pair, both] of pairs.entries()) {
    if (!canShare(both)) continue
    const [a, b] = [both[0].origin!, both[1].origin!]
    for (let start = 0; start < a.length; start += taskBytes) {
      const length = Math.min(taskBytes, a.length - start)
      let task = tasks.at(-1)
      if (
        task?.a !== a.source ||
        task.b !== b.source ||
        task.bytes + length > taskBytes ||
        task.slices.length >= maxSlices
      ) {
        task = { a: a.source, b: b.source, slices: [], bytes: 0 }
        tasks.push(task)
      }
      task.bytes += length
      task.slices.push({ pair, start, a: a.offset + start, b: b.offset + start, length })
    }
  }
  return tasks
}

async function compareAll(a: ByteSource, b: ByteSource, slices: readonly Slice[], watch: Watch): Promise<number[]> {
  const found: number[] = []
  for (const { a: offset, b: other, length } of slices)
    found.push(await firstDifferentByte(rangePayload(a, offset, length), rangePayload(b, other, length), watch))
  return found
}

interface CompareData {
  readonly a: SourceHandle
  readonly b: SourceHandle
  readonly slices: readonly Slice[]
}

function compareJob({ a, b, slices }: Task): Job {
  const data: CompareData = { a: a.handle!, b: b.handle!, slices }
  return { kind: 'compare', data, file: a.name, offset: slices[0]!.a }
}

/** Runs in a worker. */
export const compareInWorker: JobHandler = (data, _, { open, signal, advance }) => {
  const { a, b, slices } = data as CompareData
  return compareAll(open(a), open(b), slices, { signal, advance })
}
