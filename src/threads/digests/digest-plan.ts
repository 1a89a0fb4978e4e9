// How digests over one source are spread over threads. A digest is one long chain of steps, so a range stays on one thread, unless it is
// BLAKE3 and so long that all others would wait for it: then it becomes subtrees, which our own kernel can give and others can not.
//
// Ranges that lie over each other (a chunk, its pages, its tensors) are best done together, where the bytes are read once. That is given
// up where it would leave threads without work.
import { orderOf } from '../../bytes/index.js'
import type { Algorithm } from '../../digest/index.js'
import type { DigestRange } from './stream-digests.js'

/** Nanoseconds, for one byte unless it says otherwise; about, since only the proportions matter. */
export interface Costs {
  /** Until a thread is there. */
  readonly start: number
  readonly read: number
  readonly digest: Readonly<Record<Algorithm, number>>
  /** BLAKE3 of a subtree. */
  readonly subtree: number
}

/** A part of a range, or the whole of it. */
export interface PlannedRange extends DigestRange {
  /** The number of the range that it belongs to. */
  readonly of: number
}

/** Ranges for one thread. */
export interface DigestTask {
  readonly ranges: readonly PlannedRange[]
  readonly cost: number
}

export interface DigestPlan {
  /** The most expensive first, so that none of them is begun last. */
  readonly tasks: readonly DigestTask[]
  /** Whether it takes less time than on one thread. */
  readonly isWorthIt: boolean
}

/** The size of a subtree; a power of two. */
export const subtreeSize = 16 << 20

/** The most that ranges over the same bytes may cost together, and the most of a heap of small ones, as parts of a thread's share. */
const spanPart = 1 / 2
const heapPart = 1 / 8

/** Cutting up a range makes for more work in all; it must save at least the rest of the time that the range takes by itself. */
const maxLongShare = 0.85

export function planDigests(ranges: readonly DigestRange[], threads: number, costs: Costs): DigestPlan {
  const hashCost = ({ start, end, algorithm, chunk }: DigestRange): number =>
    (end - start) * (chunk === undefined ? costs.digest[algorithm] : costs.subtree)
  // Field by field: with a spread and a field behind it, every object would get a hidden class of its own.
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
    const end = span.reduce((most, range) => Math.max(most, range.end), 0)
    return span.reduce((sum, range) => sum + hashCost(range), 0) + costs.read * (end - (span[0]?.start ?? 0))
  }
}

/** Ranges that overlap; those that only touch can be read apart. */
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

/** Collects neighbours until they are worth the way to another thread. */
class Heaps {
  readonly #limit: number
  readonly #tasks: DigestTask[] = []
  #ranges: PlannedRange[] = []
  #cost = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  add(ranges: readonly PlannedRange[], cost: number): void {
    if (this.#cost + cost > this.#limit) this.#close()
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
 * Cuts BLAKE3 ranges that cost more than a thread's share into subtrees, where that is faster. It is slower per byte: a native package does
 * not give subtrees.
 */
function splitLong(ordered: readonly PlannedRange[], threads: number, costs: Costs): readonly PlannedRange[] {
  const plainCost = ({ start, end, algorithm }: DigestRange): number =>
    (end - start) * (costs.digest[algorithm] + costs.read)
  const total = ordered.reduce((sum, range) => sum + plainCost(range), 0)
  const isLong = (range: DigestRange): boolean =>
    range.algorithm === 'blake3' && range.end - range.start > 2 * subtreeSize && plainCost(range) > total / threads
  const long = ordered.filter(isLong)
  const longest = long.reduce((most, range) => Math.max(most, plainCost(range)), 0)
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
