// How digests over one source are spread over threads. A digest is sequential, so a range stays on one thread, unless it is BLAKE3 and so
// long that all others would wait for it: then it is split into subtrees, which only our own kernel supports.
//
// Overlapping ranges (a chunk, its pages, its tensors) are best hashed together, so that the bytes are read once, unless that would leave
// threads without work.
import { orderOf } from '../../bytes/index.js'
import type { Algorithm } from '../../digest/index.js'
import type { DigestRange } from './stream-digests.js'

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
