// Bytes on their way into the digests that cover them.
import type { Hasher } from '../digest/index.js'
import type { DigestSlot } from '../model/layout.js'
import type { StreamDigests } from '../threads/index.js'
import type { DigestJob } from './digest-jobs.js'

/** A digest whose bytes are going by. */
export interface Live {
  readonly job: DigestJob
  readonly hasher?: Hasher
  /** In place of the hasher, where another thread does the work. */
  readonly stream?: StreamDigests
  /** The first range that is not behind us. */
  next: number
}

/** Gives each digest what it covers of the bytes, which begin at `start` of the file. They are not needed any more when the promise has settled. */
export function feedAll(all: ReadonlySet<Live>, bytes: Uint8Array, start: number): Promise<void> | undefined {
  const served = feedTogether(all, bytes, start)
  const waiting: Promise<void>[] = []
  for (const live of all) {
    const working = served.has(live) ? undefined : feed(live, bytes, start)
    if (working) waiting.push(working)
  }
  return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => {})
}

const nobody: ReadonlySet<Live> = new Set()
/** Fewer bytes are summed up again sooner than their sum is put together with others. */
const minTogether = 1 << 14

/** A section and the whole file can have a checksum each: bytes that are part of both are summed up once. */
function feedTogether(all: ReadonlySet<Live>, bytes: Uint8Array, start: number): ReadonlySet<Live> {
  if (all.size < 2 || bytes.byteLength < minTogether) return nobody
  const end = start + bytes.byteLength
  const sharers = [...all].flatMap((live) => {
    const pieces = coversAll(live, start, end) ? live.hasher?.pieces : undefined
    return pieces ? [{ live, pieces }] : []
  })
  if (sharers.length < 2) return nobody
  const sum = sharers[0]!.pieces.sumOf(bytes)
  for (const { pieces } of sharers) pieces.append(sum, bytes.byteLength)
  return new Set(sharers.map(({ live }) => live))
}

/** Whether a digest is over all of these bytes, as they are. */
function coversAll(live: Live, start: number, end: number): boolean {
  const { covers, masked } = live.job
  if (!covers) return live.job.start <= start && end <= live.job.end
  skipRanges(live, start)
  const range = covers[live.next]
  return range !== undefined && range[0] <= start && end <= range[1] && !masked?.some(touches(start, end))
}

const touches =
  (start: number, end: number) =>
  ([from, to]: readonly [number, number]): boolean =>
    from < end && to > start

function skipRanges(live: Live, start: number): void {
  const { covers } = live.job
  while (covers && live.next < covers.length && covers[live.next]![1] <= start) live.next++
}

function feed(live: Live, bytes: Uint8Array, start: number): Promise<void> | undefined {
  const { job, hasher, stream } = live
  const { covers, masked } = job
  const end = start + bytes.byteLength
  if (!covers) {
    const part = bytes.subarray(Math.max(0, job.start - start), Math.max(0, job.end - start))
    if (stream) return stream.update(part) ?? undefined
    if (part.byteLength > 0) hasher!.update(part)
    return undefined
  }
  skipRanges(live, start)
  for (let i = live.next; i < covers.length && covers[i]![0] < end; i++) {
    const low = Math.max(start, covers[i]![0])
    const high = Math.min(end, covers[i]![1])
    if (low < high) hasher!.update(withMask(bytes.subarray(low - start, high - start), low, masked))
  }
  return undefined
}

function withMask(bytes: Uint8Array, offset: number, ranges: DigestSlot['masked']): Uint8Array {
  const hit = ranges?.filter(touches(offset, offset + bytes.byteLength))
  if (!hit?.length) return bytes
  const copy = bytes.slice()
  for (const [from, to] of hit) copy.fill(0, Math.max(0, from - offset), Math.max(0, to - offset))
  return copy
}
