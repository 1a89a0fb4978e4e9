// Digests of ranges of a source: in one pass in this thread or, where it is worth it, on all threads. The result is the same.
//
// A digest is sequential, so a range stays on one thread, unless it is BLAKE3 and so long that all others would wait for it: then it is split
// into subtrees, which only our own kernel supports. Overlapping ranges (a chunk, its pages, its tensors) are best hashed together, so that
// the bytes are read once, unless that would leave threads without work.
import { type ByteSource, coveredBytes, orderOf } from '../../bytes/index.js'
import { digestLengths } from '../../digest/hasher.js'
import type { Algorithm } from '../../digest/index.js'
import { joinSubtreeValues, subtreeKernel } from '../../digest/subtree.js'
import { byteCosts, digestCost, subtreeCost } from '../costs.js'
import type { WorkerPool } from '../job.js'
import { digestJob } from '../kinds.js'
import { runShared } from '../run-shared.js'
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

/** Approximate nanoseconds per byte unless noted; only the proportions matter. */
export interface Costs {
  /** Starting a thread. */
  readonly start: number
  readonly read: number
  readonly digest: Readonly<Record<Algorithm, number>>
  /** BLAKE3 of a subtree. */
  readonly subtree: number
}

/** A range, or a part of one. */
export interface PlannedRange extends DigestRange {
  /** The index of the range it belongs to. */
  readonly of: number
}

/** Ranges for one thread. */
export interface DigestTask {
  readonly ranges: readonly PlannedRange[]
  readonly cost: number
}

export interface DigestPlan {
  /** The most expensive first, so that none of them is started last. */
  readonly tasks: readonly DigestTask[]
  /** Whether it is faster than one thread. */
  readonly isWorthIt: boolean
}

/** The size of a subtree; a power of two. */
export const subtreeSize = 16 << 20

/** Maximum cost of overlapping ranges taken together, and of a group of small ranges, as a share of a thread's work. */
const spanPart = 1 / 2
const heapPart = 1 / 8

/** Splitting a range adds work; the rest must take at most this share of the time of the whole range. */
const maxLongShare = 0.85

export function planDigests(ranges: readonly DigestRange[], threads: number, costs: Costs): DigestPlan {
  const hashCost = ({ start, end, algorithm, chunk }: DigestRange): number =>
    (end - start) * (chunk === undefined ? costs.digest[algorithm] : costs.subtree)
  // Field by field: with a spread followed by a field, every object would get its own hidden class.
  const ordered = Array.from(orderOf(ranges), (of): PlannedRange => {
    const { start, end, algorithm, chunk } = ranges[of]!
    return { start, end, algorithm, chunk, of }
  })
  let alone = 0
  for (const span of spansOf(ordered)) alone += costOf(span)
  const pieces = splitLong(ordered, threads, costs)
  const share =
    pieces.reduce((sum, range) => sum + hashCost(range) + costs.read * (range.end - range.start), 0) / threads
  const heaps = new Heaps(share * heapPart)
  for (const span of spansOf(pieces)) {
    const cost = costOf(span)
    if (cost <= share * spanPart) heaps.add(span, cost)
    else for (const range of span) heaps.add([range], costOf([range]))
  }
  const tasks = heaps.finish().sort((a, b) => b.cost - a.cost)
  const longest = Math.max(tasks[0]?.cost ?? 0, tasks.reduce((sum, task) => sum + task.cost, 0) / threads)
  return { tasks, isWorthIt: tasks.length > 1 && longest + costs.start < alone }

  function costOf(span: readonly PlannedRange[]): number {
    const end = span.reduce((max, range) => Math.max(max, range.end), 0)
    return span.reduce((sum, range) => sum + hashCost(range), 0) + costs.read * (end - (span[0]?.start ?? 0))
  }
}

/** Overlapping ranges; ranges that only touch can be read separately. */
function* spansOf(ordered: readonly PlannedRange[]): Generator<PlannedRange[], void, void> {
  let span: PlannedRange[] = []
  let end = -1
  for (const range of ordered) {
    if (range.start >= end && span.length > 0) {
      yield span
      span = []
    }
    span.push(range)
    end = Math.max(end, range.end)
  }
  if (span.length > 0) yield span
}

/** A job with more would be too long a message. */
const maxRanges = 4096

/** Groups neighbours until they are worth sending to another thread. */
class Heaps {
  readonly #limit: number
  readonly #tasks: DigestTask[] = []
  #ranges: PlannedRange[] = []
  #cost = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  add(ranges: readonly PlannedRange[], cost: number): void {
    if (this.#cost + cost > this.#limit || this.#ranges.length >= maxRanges) this.#close()
    for (const range of ranges) this.#ranges.push(range)
    this.#cost += cost
  }

  #close(): void {
    if (this.#ranges.length > 0) this.#tasks.push({ ranges: this.#ranges, cost: this.#cost })
    this.#ranges = []
    this.#cost = 0
  }

  finish(): DigestTask[] {
    this.#close()
    return this.#tasks
  }
}

/**
 * Splits BLAKE3 ranges that cost more than a thread's share into subtrees, if that is faster. Subtrees are slower per byte: the native
 * package does not support them.
 */
function splitLong(ordered: readonly PlannedRange[], threads: number, costs: Costs): readonly PlannedRange[] {
  const plainCost = ({ start, end, algorithm }: DigestRange): number =>
    (end - start) * (costs.digest[algorithm] + costs.read)
  const total = ordered.reduce((sum, range) => sum + plainCost(range), 0)
  const isLong = (range: DigestRange): boolean =>
    range.algorithm === 'blake3' && range.end - range.start > 2 * subtreeSize && plainCost(range) > total / threads
  const long = ordered.filter(isLong)
  const longest = long.reduce((max, range) => Math.max(max, plainCost(range)), 0)
  const more = (costs.subtree - costs.digest.blake3) * long.reduce((sum, { start, end }) => sum + end - start, 0)
  if ((total + more) / threads > longest * maxLongShare) return ordered
  return ordered.flatMap((range) => (isLong(range) ? subtreesOf(range) : [range]))
}

function subtreesOf({ start, end, algorithm, of }: PlannedRange): PlannedRange[] {
  const pieces: PlannedRange[] = []
  for (let at = start; at < end; at += subtreeSize) {
    pieces.push({ start: at, end: Math.min(at + subtreeSize, end), algorithm, chunk: (at - start) / 1024, of })
  }
  return pieces
}
