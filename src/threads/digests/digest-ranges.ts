// Digests of ranges of a source: in one pass in this thread or, where it is worth it, on all threads. The result is the same.
import { type ByteSource, coveredBytes, orderOf } from '../../bytes/index.js'
import { digestLengths } from '../../digest/hasher.js'
import type { Algorithm } from '../../digest/index.js'
import { joinSubtreeValues, subtreeKernel } from '../../digest/subtree.js'
import { byteCosts, digestCost, subtreeCost } from '../costs.js'
import type { WorkerPool } from '../job.js'
import { digestJob } from '../kinds.js'
import { runShared } from '../run-shared.js'
import { type Costs, type DigestTask, planDigests, subtreeSize } from './digest-plan.js'
import { type DigestRange, digestSlot, streamDigests } from './stream-digests.js'

export interface DigestOptions {
  readonly pool?: WorkerPool | undefined
  readonly signal?: AbortSignal | undefined
  /** Called with the number of bytes read. */
  readonly onRead?: ((bytes: number) => void) | undefined
  /** Costs that replace the default ones. */
  readonly costs?: Partial<Costs> | undefined
}

export interface WantedDigest {
  readonly start: number
  readonly end: number
  /** Default: BLAKE3. */
  readonly algorithm?: Algorithm | undefined
}

/** Returns a function that gives the digest of range number i. Equal ranges are hashed once. */
export async function digestRanges(
  source: ByteSource,
  wanted: readonly WantedDigest[],
  options: DigestOptions = {},
): Promise<(i: number) => Uint8Array> {
  const { ranges, places } = withoutRepeats(wanted)
  const tasks = await tasksFor(source, ranges, options)
  const digests = tasks
    ? await runTasks(source, ranges, tasks, options)
    : await streamDigests(source, ranges, options.onRead ?? (() => {}), options.signal)
  return (i) => {
    const at = places[i]! * digestSlot
    return digests.subarray(at, at + digestLengths[wanted[i]!.algorithm ?? 'blake3'])
  }
}

function withoutRepeats(wanted: readonly WantedDigest[]): { ranges: DigestRange[]; places: Uint32Array } {
  const ranges: DigestRange[] = []
  const places = new Uint32Array(wanted.length)
  for (const i of orderOf(wanted)) {
    const { start, end, algorithm = 'blake3' } = wanted[i]!
    // Ranges of the same bytes are adjacent, at most one for each algorithm.
    let same = ranges.length - 1
    while (isOver(ranges[same], start, end) && ranges[same]!.algorithm !== algorithm) same--
    const isKnown = isOver(ranges[same], start, end)
    places[i] = isKnown ? same : ranges.length
    if (!isKnown) ranges.push({ start, end, algorithm })
  }
  return { ranges, places }
}

const isOver = (range: DigestRange | undefined, start: number, end: number): boolean =>
  range?.start === start && range.end === end

/** Undefined when the work is done in this thread. */
async function tasksFor(
  source: ByteSource,
  ranges: readonly DigestRange[],
  { pool, costs }: DigestOptions,
): Promise<readonly DigestTask[] | undefined> {
  if (!pool || pool.threads < 2 || !source.handle) return undefined
  const [blake3, sha256, crc32] = await Promise.all([digestCost('blake3'), digestCost('sha256'), digestCost('crc32')])
  const measured: Costs = {
    start: pool.startCost,
    read: byteCosts.read,
    digest: { blake3, sha256, crc32 },
    subtree: subtreeCost(subtreeKernel()),
  }
  const { tasks, isWorthIt } = planDigests(ranges, pool.threads, { ...measured, ...costs })
  return isWorthIt ? tasks : undefined
}

/** Threads may read the same bytes for several digests; progress counts each byte once, in proportion. */
function inProportion(
  ranges: readonly DigestRange[],
  tasks: readonly DigestTask[],
  report: (bytes: number) => void,
): (bytes: number) => void {
  const covered = coveredBytes(ranges)
  const planned = tasks.reduce((sum, task) => sum + coveredBytes(task.ranges), 0)
  let read = 0
  let reported = 0
  return (bytes) => {
    read += bytes
    const now = read >= planned ? covered : Math.floor((read / planned) * covered)
    report(now - reported)
    reported = now
  }
}

async function runTasks(
  source: ByteSource,
  ranges: readonly DigestRange[],
  tasks: readonly DigestTask[],
  { pool, signal, onRead }: DigestOptions,
): Promise<Uint8Array> {
  const onAdvance = inProportion(ranges, tasks, onRead ?? (() => {}))
  const results = await runShared(pool!, {
    count: tasks.length,
    job: (t) => digestJob(source.handle!, tasks[t]!.ranges),
    here: (t, stop) => streamDigests(source, tasks[t]!.ranges, onAdvance, stop),
    signal,
    onAdvance,
  })
  const digests = new Uint8Array(ranges.length * digestSlot)
  const subtrees = new Map<number, Uint8Array>()
  for (const [t, task] of tasks.entries()) {
    for (const [i, { of, chunk, start }] of task.ranges.entries()) {
      const digest = results[t]!.subarray(i * digestSlot, (i + 1) * digestSlot)
      if (chunk === undefined) digests.set(digest, of * digestSlot)
      else valuesOf(of).set(digest, ((start - ranges[of]!.start) / subtreeSize) * digestSlot)
    }
  }
  for (const [of, values] of subtrees) digests.set(joinSubtreeValues(values), of * digestSlot)
  return digests

  function valuesOf(of: number): Uint8Array {
    const { start, end } = ranges[of]!
    const values = subtrees.get(of) ?? new Uint8Array(Math.ceil((end - start) / subtreeSize) * digestSlot)
    subtrees.set(of, values)
    return values
  }
}
