// How an object is cut into the parts of a multipart upload. A part is copied by the store where it lies inside an unchanged range of another
// object of the same store; all others are uploaded. Stores want parts of 5 MiB or more, except for the last one, and at most 10,000 of them,
// so a short part that is not at the end borrows from the beginning of the range that would be copied behind it.
import type { ByteRange, OutputPiece, StoredObject, Transfer } from '../../bytes/index.js'

/** An unchanged range of an object. */
export interface CopyRange {
  readonly object: StoredObject
  readonly offset: number
}

export interface Part {
  /** From 1. */
  readonly number: number
  readonly start: number
  readonly end: number
  /** Set if the store copies it. */
  readonly copy?: CopyRange
  /** It holds bytes that are known only at the end. */
  readonly isLate?: true
}

export interface PartSizes {
  /** Uploaded parts have this size, or a little more. */
  readonly upload?: number | undefined
  /** Copied parts have at most this size. */
  readonly copy?: number | undefined
}

export const minPart = 5 << 20
const maxPart = 5 * 2 ** 30
export const maxParts = 10_000
const defaultUpload = 8 << 20
const defaultCopy = 256 << 20

/** A range of the output that is copied as a whole, or is not. */
interface Run {
  readonly start: number
  end: number
  copy?: CopyRange
}

export interface Runs {
  readonly runs: readonly Run[]
  /** Bytes that are patched in at the end. */
  readonly late: readonly (readonly [start: number, end: number])[]
  readonly size: number
}

/** Padding is at most a page. */
const maxGap = 4096

/**
 * The output as ranges, as large as possible, that are copied or not. Tensors that follow each other in both files are one range, together
 * with the padding between them where that is zeros in both.
 */
export async function runsOf(pieces: Iterable<OutputPiece>, store: string): Promise<Runs> {
  const runs: Run[] = []
  const late: [number, number][] = []
  let at = 0
  /** The bytes of padding that the last run may go on behind. */
  let gap = 0
  for (const { length, origin, isZeros, isLate } of pieces) {
    const end = at + length
    const object = origin?.source.stored
    const copy = object?.store === store ? { object, offset: origin!.offset } : undefined
    const last = runs.at(-1)
    const isPadding = isZeros && gap === 0 && length <= maxGap && last?.copy
    if (gap > 0 && !(last && isContinued(last, copy, gap) && (await isZero(origin!, gap))))
      runs.push({ start: at - gap, end: at })
    const before = runs.at(-1)
    if (isPadding) gap = length
    else {
      if (before && isContinued(before, copy, at - before.end)) before.end = end
      else runs.push({ start: at, end, ...(copy && { copy }) })
      gap = 0
    }
    if (isLate) late.push([at, end])
    at = end
  }
  if (gap > 0) runs.push({ start: at - gap, end: at })
  return { runs, late, size: at }
}

/** Whether the bytes before a range are zeros. */
async function isZero({ source, offset }: ByteRange, length: number): Promise<boolean> {
  return (await source.read(offset - length, length)).every((byte) => byte === 0)
}

function isContinued({ start, end, copy: before }: Run, copy: CopyRange | undefined, gap: number): boolean {
  if (!before || !copy) return !before && !copy
  return before.object === copy.object && before.offset + (end - start) + gap === copy.offset
}

/** The parts of an object. */
export function cutParts({ runs, late, size }: Runs, sizes: PartSizes = {}): Part[] | undefined {
  // Fewer parts are copied where there would be too many.
  for (let minCopy = 2 * minPart; minCopy <= maxPart; minCopy *= 2) {
    const joined = joinShort(runs, minCopy)
    const copied = joined.reduce((sum, run) => sum + (run.copy ? run.end - run.start : 0), 0)
    const upload = Math.max(sizes.upload ?? defaultUpload, roundUp((size - copied) / (maxParts / 2)), minPart)
    const copy = Math.max(sizes.copy ?? defaultCopy, roundUp(copied / (maxParts / 4)), 2 * minPart)
    const parts = joined.flatMap((run) => (run.copy ? cutCopy(run, copy) : cutUpload(run, upload, run.end === size)))
    if (parts.length <= maxParts && parts.every(({ start, end }) => end - start <= maxPart))
      return numbered(parts, late)
  }
  return undefined
}

const roundUp = (bytes: number): number => Math.ceil(bytes / 2 ** 20) * 2 ** 20

/** Short ranges are uploaded with their neighbours, and no range in the middle is shorter than a part may be. */
function joinShort(runs: readonly Run[], minCopy: number): Run[] {
  const joined: Run[] = []
  for (const run of runs) {
    const { start, end, copy } = run
    const last = joined.at(-1)
    if (!copy || end - start < minCopy) {
      if (last && !last.copy) last.end = end
      else joined.push({ start, end })
      continue
    }
    const borrowed = last && !last.copy ? Math.max(0, minPart - (last.end - last.start)) : 0
    if (last && borrowed > 0) last.end += borrowed
    joined.push({ start: start + borrowed, end, copy: { ...copy, offset: copy.offset + borrowed } })
  }
  return joined
}

type Cut = Omit<Part, 'number' | 'isLate'>

function cutCopy({ start, end, copy }: Run, max: number): Cut[] {
  const count = Math.ceil((end - start) / max)
  const length = Math.ceil((end - start) / count)
  return Array.from({ length: count }, (_, i) => {
    const from = start + i * length
    const range = { object: copy!.object, offset: copy!.offset + (from - start) }
    return { start: from, end: Math.min(from + length, end), copy: range }
  })
}

/** The rest behind the last cut is a part of its own where it is long enough, or the last of all. */
function cutUpload({ start, end }: Run, size: number, isLast: boolean): Cut[] {
  const cuts: Cut[] = []
  for (let at = start; at < end; ) {
    const rest = end - at - size
    const to = rest > 0 && (isLast || rest >= minPart) ? at + size : end
    cuts.push({ start: at, end: to })
    at = to
  }
  return cuts
}

function numbered(cuts: readonly Cut[], late: readonly (readonly [start: number, end: number])[]): Part[] {
  let next = 0
  return cuts.map((cut, i): Part => {
    while (next < late.length && late[next]![1] <= cut.start) next++
    const isLate = next < late.length && late[next]![0] < cut.end
    return { ...cut, number: i + 1, ...(isLate && { isLate }) }
  })
}

export function transferOf(parts: readonly Part[]): Transfer {
  let [copied, uploaded] = [0, 0]
  for (const { start, end, copy } of parts) {
    if (copy) copied += end - start
    else uploaded += end - start
  }
  return { copied, uploaded }
}
