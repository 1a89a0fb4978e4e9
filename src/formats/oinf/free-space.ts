// Everything in the data section is a blob that a record points at: a metadata value, a tensor's data, its quantization. Blobs may
// lie in any order and may leave room between them, for instance for wider alignment. Here the room that nobody claims is found.
import type { ByteSource } from '../../bytes/index.js'
import type { Report } from '../../errors/index.js'
import type { ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import { type KindOfRange, RangeList } from './range-list.js'
import type { Range } from './records.js'
import { aligned } from './structs.js'

type Blob = KindOfRange<'metadata' | 'data' | 'quant'>
export type Blobs = RangeList<Blob['kind']>
export const newBlobs = (): Blobs => new RangeList(['metadata', 'data', 'quant'])

/** Padding is up to 7 bytes, to the next multiple of 8; everything beyond is a gap. */
export type FreeRange = KindOfRange<'padding' | 'gap'>
export type FreeRanges = RangeList<FreeRange['kind']>
export const newFreeRanges = (): FreeRanges => new RangeList(['padding', 'gap'])

const blobPath = ({ kind, index }: Blob): string =>
  kind === 'metadata' ? `metadata[${index}].value` : `tensors[${index}].${kind}`

/** Reports shared bytes and unclaimed ones; returns the unclaimed ones. No blob is empty. `complete`: no record was left out. */
export function findFreeRanges(
  blobs: Blobs,
  from: number,
  end: number,
  complete: boolean,
  { report }: ReadContext,
): FreeRanges {
  const free = newFreeRanges()
  let last: Blob | undefined
  let reached = from
  for (const blob of blobs.inOffsetOrder()) {
    if (blob.offset < reached) {
      const length = Math.min(reached, blob.offset + blob.length) - blob.offset
      const message = `${length} of its bytes also belong to ${blobPath(last!)}`
      report.report(codes.overlap, { offset: blob.offset, length, path: blobPath(blob), message })
    } else pushFree(free, reached, blob.offset)
    if (blob.offset + blob.length <= reached) continue
    reached = blob.offset + blob.length
    last = blob
  }
  noteGaps(free, report)
  const count = free.length
  pushFree(free, reached, end)
  const rest = free.length > count ? free.at(free.length - 1) : undefined
  if (rest?.kind === 'gap' && complete) {
    const message = `${rest.length} bytes after the last value belong to nothing`
    report.report(codes['trailing-bytes'], { offset: rest.offset, length: rest.length, path: 'data', message })
  }
  return free
}

function noteGaps(free: FreeRanges, report: Report): void {
  let first: FreeRange | undefined
  let count = 0
  let total = 0
  for (const range of free) {
    if (range.kind !== 'gap') continue
    first ??= range
    count++
    total += range.length
  }
  if (!first) return
  const message = `${total} bytes in ${count} places between the values belong to nothing`
  report.report(codes.gap, { offset: first.offset, length: first.length, path: 'data', message })
}

export function pushFree(free: FreeRanges, from: number, to: number): void {
  const padded = Math.min(aligned(from), to)
  if (padded > from) free.push('padding', { offset: from, length: padded - from })
  if (to > padded) free.push('gap', { offset: padded, length: to - padded })
}

/** Padding is a row of the byte map; gaps show by themselves. */
export function recordPadding(free: FreeRanges, { extents, report }: ReadContext): void {
  if (!extents) return
  for (const { kind, offset, length } of free) {
    if (kind === 'padding') extents.add({ file: report.file, offset, length, path: 'padding', kind })
  }
}

/** Reports the first byte that is not 0. `bytes` is a part of the free range, starting at `offset`. */
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

/** Reading so many bytes for nothing is cheaper than another request, as long as they are not kept. */
const readThrough = 4096
const longest = 1 << 20

/** The bytes of many ranges, near ones fetched together. The caller has bounded their sum. */
export async function fetchRanges(
  source: ByteSource,
  ranges: readonly Range[],
  signal: AbortSignal | undefined,
): Promise<Uint8Array[]> {
  const fetched: Uint8Array[] = ranges.map(() => new Uint8Array(0))
  const order = [...ranges.keys()].sort((a, b) => ranges[a]!.offset - ranges[b]!.offset)
  for (let first = 0; first < order.length; ) {
    const { offset } = ranges[order[first]!]!
    let end = offset
    let wanted = 0
    let next = first
    for (; next < order.length; next++) {
      const range = ranges[order[next]!]!
      const isNear = range.offset <= aligned(end) || (range.offset <= end + readThrough && end - offset < longest)
      if (next > first && !isNear) break
      end = Math.max(end, range.offset + range.length)
      wanted += range.length
    }
    const bytes = await source.read(offset, end - offset, { signal })
    const isSparse = wanted < (end - offset) / 2
    for (; first < next; first++) {
      const range = ranges[order[first]!]!
      const own = bytes.subarray(range.offset - offset, range.offset - offset + range.length)
      fetched[order[first]!] = isSparse ? own.slice() : own
    }
  }
  return fetched
}
