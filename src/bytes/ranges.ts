// Ranges of bytes: their order, what lies between them, what they share and how much they cover. Every format that places things in a file
// asks these questions, and so do editing in place and planning of digests.

/** The bytes from `start` up to, and without, `end`. */
export interface Range {
  readonly start: number
  readonly end: number
}

type Ties = 'longest' | 'shortest' | 'given'

const sign = { longest: -1, shortest: 1, given: 0 } as const

const comparing = (ties: Ties) => (a: Range, b: Range) => a.start - b.start || sign[ties] * (a.end - b.end)

/** The ranges by where they start. Of those that start together the longest comes first, or the shortest, or the one given first. */
export function inOrder<R extends Range>(ranges: readonly R[], ties: Ties = 'longest'): readonly R[] {
  const compare = comparing(ties)
  return areInOrder(ranges, compare) ? ranges : ranges.toSorted(compare)
}

/** Ranges mostly lie in a file in the order in which its index lists them. */
function areInOrder(ranges: readonly Range[], compare: (a: Range, b: Range) => number): boolean {
  for (let i = 1; i < ranges.length; i++) {
    const before = ranges[i - 1]!
    const range = ranges[i]!
    if (before.start >= range.start && compare(before, range) > 0) return false
  }
  return true
}

/** The positions of the ranges in that order. */
export function orderOf(ranges: readonly Range[], ties: Ties = 'longest'): Uint32Array {
  const compare = comparing(ties)
  const positions = Uint32Array.from(ranges.keys())
  if (areInOrder(ranges, compare)) return positions
  return positions.sort((a, b) => compare(ranges[a]!, ranges[b]!) || a - b)
}

/** Each range that begins inside another, with the one before it that ends last. The ranges are in order. Empty ones share nothing. */
export function* overlaps<R extends Range>(ordered: Iterable<R>): Generator<[before: R, range: R], void, void> {
  let last: R | undefined
  for (const range of ordered) {
    if (range.end === range.start) continue
    if (last && range.start < last.end) yield [last, range]
    if (!last || range.end > last.end) last = range
  }
}

/** Each range with where those before it end, and the one that ends there; before the first that is `start`. The ranges are in order. */
export function* withReached<R extends Range>(
  ordered: Iterable<R>,
  start: number,
): Generator<{ readonly range: R; readonly reached: number; readonly before: R | undefined }, void, void> {
  let reached = start
  let before: R | undefined
  for (const range of ordered) {
    yield { range, reached, before }
    if (before && range.end <= before.end) continue
    before = range
    reached = Math.max(start, range.end)
  }
}

/** What no range covers between `start` and `end`. The ranges are in order. */
export function* gaps(ordered: Iterable<Range>, start: number, end: number): Generator<Range, void, void> {
  let reached = start
  for (const range of ordered) {
    if (range.start > reached) yield { start: reached, end: Math.min(range.start, end) }
    reached = Math.max(reached, range.end)
    if (reached >= end) return
  }
  if (reached < end) yield { start: reached, end }
}

/** The same bytes in as few ranges as possible, in order: those that touch or overlap become one. */
export function joined(ranges: readonly Range[]): Range[] {
  const result: { start: number; end: number }[] = []
  for (const { start, end } of inOrder(ranges)) {
    const last = result.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else result.push({ start, end })
  }
  return result
}

/** Ranges that are read at once. */
export interface RangeBatch<R extends Range> extends Range {
  readonly ranges: readonly R[]
}

/** Neighbours no more than `near` bytes apart, in batches of no more than `max` bytes unless one range alone is longer. The ranges are in order. */
export function* batches<R extends Range>(
  ordered: Iterable<R>,
  near: number,
  max: number,
): Generator<RangeBatch<R>, void, void> {
  let batch: { start: number; end: number; ranges: R[] } | undefined
  for (const range of ordered) {
    const isInside = batch && range.end <= batch.end
    if (batch && (isInside || (range.start - batch.end <= near && range.end - batch.start <= max))) {
      batch.ranges.push(range)
      batch.end = Math.max(batch.end, range.end)
    } else {
      if (batch) yield batch
      batch = { start: range.start, end: range.end, ranges: [range] }
    }
  }
  if (batch) yield batch
}

/** The same ranges, with those above `max` bytes cut into pieces. */
export function* pieces<R extends Range>(ranges: Iterable<R>, max: number): Generator<R, void, void> {
  for (const range of ranges) {
    if (range.end - range.start <= max) yield range
    else
      for (let start = range.start; start < range.end; start += max)
        yield { ...range, start, end: Math.min(start + max, range.end) }
  }
}

/** How many bytes lie in at least one of the ranges. */
export function coveredBytes(ranges: readonly Range[]): number {
  let covered = 0
  let reached = 0
  for (const { start, end } of inOrder(ranges)) {
    covered += Math.max(0, end - Math.max(start, reached))
    reached = Math.max(reached, end)
  }
  return covered
}

/** Whether no two of the ranges share a byte. */
export const areApart = (ranges: readonly Range[]): boolean => overlaps(inOrder(ranges)).next().done === true

export const isSameRange = (a: Range, b: Range): boolean => a.start === b.start && a.end === b.end
