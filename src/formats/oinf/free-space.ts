// Values may lie in any order and may leave room between them, for instance for wider alignment. Here the bytes that belong to no value are
// found.
import { type ByteSource, batches, gaps, inOrder, overlaps, type Range } from '../../bytes/index.js'
import type { ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import { aligned } from './structs.js'
import { pathOfValue, type ValueRange } from './tables/records.js'

/** Padding is up to 7 bytes, to the next multiple of 8; everything beyond is a gap. */
export interface FreeRange extends Range {
  readonly kind: 'padding' | 'gap'
}

/** Reports shared bytes and unclaimed ones; returns the unclaimed ones. `isComplete`: no record was left out. */
export function findFreeSpace(
  values: readonly ValueRange[],
  { start, end }: Range,
  isComplete: boolean,
  { report }: ReadContext,
): FreeRange[] {
  const ordered = inOrder(values, 'shortest')
  for (const [before, value] of overlaps(ordered)) {
    const length = Math.min(before.end, value.end) - value.start
    const message = `${length} of its bytes also belong to ${pathOfValue(before)}`
    report.report(codes.overlap, { offset: value.start, length, path: pathOfValue(value), message })
  }
  const free = [...gaps(ordered, start, end)].flatMap(splitFree)
  const between = free.filter((range) => range.kind === 'gap' && range.end < end)
  if (between[0]) {
    const total = between.reduce((sum, range) => sum + lengthOf(range), 0)
    const message = `${total} bytes in ${between.length} places between the values belong to nothing`
    report.report(codes.gap, { offset: between[0].start, length: lengthOf(between[0]), path: 'data', message })
  }
  const last = free.at(-1)
  if (last?.kind === 'gap' && last.end === end && isComplete) {
    const message = `${lengthOf(last)} bytes after the last value belong to nothing`
    report.report(codes['trailing-bytes'], { offset: last.start, length: lengthOf(last), path: 'data', message })
  }
  return free
}

const lengthOf = ({ start, end }: Range): number => end - start

/** A range that belongs to nothing, as padding and gap. */
export function splitFree({ start, end }: Range): FreeRange[] {
  const padded = Math.min(aligned(start), end)
  const free: FreeRange[] = []
  if (padded > start) free.push({ kind: 'padding', start, end: padded })
  if (end > padded) free.push({ kind: 'gap', start: padded, end })
  return free
}

/** Padding is a row of the byte map; gaps show by themselves. */
export function recordPadding(free: readonly FreeRange[], { extents, report }: ReadContext): void {
  if (!extents) return
  for (const { kind, start, end } of free) {
    if (kind === 'padding')
      extents.add({ file: report.file, offset: start, length: end - start, path: 'padding', kind })
  }
}

/** Reports the first byte that is not 0; returns whether all are. `bytes` are a part of the free range, from `offset` on. */
export function checkZero(
  bytes: Uint8Array,
  kind: FreeRange['kind'],
  offset: number,
  { report }: ReadContext,
): boolean {
  const at = bytes.findIndex((byte) => byte !== 0)
  if (at < 0) return true
  const message = `byte 0x${(offset + at).toString(16)} is ${bytes[at]} where only 0 belongs`
  const code = kind === 'padding' ? codes.padding : codes['gap-bytes']
  report.report(code, { offset: offset + at, path: kind === 'padding' ? 'padding' : 'data', message })
  return false
}

/** Reading this many bytes for nothing is cheaper than another request. */
const near = 4096
const maxBatch = 1 << 20

/** The bytes of ranges, near ones fetched together. The caller has bounded their sum. */
export async function fetchRanges<R extends Range>(
  source: ByteSource,
  ranges: readonly R[],
  signal: AbortSignal | undefined,
): Promise<Map<R, Uint8Array>> {
  const fetched = new Map<R, Uint8Array>()
  for (const { start, end, ranges: inside } of batches(inOrder(ranges), near, maxBatch)) {
    const bytes = await source.read(start, end - start, { signal })
    const wanted = inside.reduce((sum, range) => sum + lengthOf(range), 0)
    const isSparse = wanted < (end - start) / 2
    for (const range of inside) {
      const own = bytes.subarray(range.start - start, range.end - start)
      // A few wanted bytes must not keep all of the others in memory.
      fetched.set(range, isSparse ? own.slice() : own)
    }
  }
  return fetched
}
