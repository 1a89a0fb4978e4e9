// Allocates space for an in-place edit. Some ranges of the file keep their place, above all the weights. Rewritten pieces go into the space
// their old form leaves, into gaps of zeros, or after the last range that is kept. Everything after that range is laid out afresh by every
// edit, so repeated edits do not grow the file.
import { alignUp, type ByteSource, gaps, inOrder, joined, type Range } from '../bytes/index.js'
import type { Slot } from '../model/layout.js'
import { rangePayload } from '../model/payload.js'

export interface EditPiece {
  readonly path: string
  readonly offset: number
  readonly bytes: Uint8Array
}

export interface EditSpaceOptions {
  /** Ranges that keep their place. They must not overlap. */
  readonly staying: readonly Range[]
  /** Where the old form of the rewritten pieces was. */
  readonly freed: readonly Range[]
  /** New pieces are aligned to this. */
  readonly alignment: number
  readonly signal?: AbortSignal | undefined
}

/** Longer unclaimed gaps are left alone: checking that they are zeros would take too long. */
const maxCheckedGap = 1 << 20
/** Unused space that is tolerated between kept ranges: this many bytes, or this share of the file. */
const tolerated = 1 << 16
const toleratedShare = 1 / 16

export class EditSpace {
  /** No kept range lies beyond this offset. */
  readonly stayingEnd: number
  readonly #source: ByteSource
  readonly #alignment: number
  /** Freed ranges and gaps of zeros between kept ranges, ascending; allocated parts are cut off. */
  #free: Range[]
  /** The same before anything was allocated, and everything after the kept ranges: zeros in the edited file. */
  readonly #blank: readonly Range[]
  #end: number

  private constructor(source: ByteSource, alignment: number, stayingEnd: number, free: Range[]) {
    this.#source = source
    this.#alignment = alignment
    this.stayingEnd = stayingEnd
    this.#free = free
    this.#blank = [...free, { start: stayingEnd, end: Number.POSITIVE_INFINITY }]
    this.#end = stayingEnd
  }

  static async in(source: ByteSource, options: EditSpaceOptions): Promise<EditSpace> {
    const stayingEnd = options.staying.reduce((max, { end }) => Math.max(max, end), 0)
    const free = options.freed.filter(({ start, end }) => start < Math.min(end, stayingEnd))
    for (const gap of gaps(inOrder([...options.staying, ...options.freed]), 0, stayingEnd)) {
      if (await isBlank(source, gap, options.signal)) free.push(gap)
    }
    return new EditSpace(source, options.alignment, stayingEnd, joined(free))
  }

  /** Allocates `length` bytes: at the old place where it is large enough, else at the first place that is. */
  place(length: number, was?: Range): number {
    const fits = ({ start, end }: Range): boolean => alignUp(start, this.#alignment) + length <= end
    const isOld = ({ start, end }: Range): boolean =>
      was !== undefined && was.start % this.#alignment === 0 && was.start >= start && was.start + length <= end
    const old = this.#free.find(isOld)
    const free = old ?? this.#free.find(fits)
    if (!free) return this.append(length)
    const offset = old ? was!.start : alignUp(free.start, this.#alignment)
    this.#free = this.#free.flatMap((each) => {
      if (each !== free) return [each]
      const rest = [
        { start: each.start, end: offset },
        { start: offset + length, end: each.end },
      ]
      return rest.filter(({ start, end }) => end > start)
    })
    return offset
  }

  /** Allocates after everything else. */
  append(length: number): number {
    const offset = alignUp(this.#end, this.#alignment)
    this.#end = offset + length
    return offset
  }

  /** The length of the file. */
  get end(): number {
    return this.#end
  }

  /** Whether so much space stays unused that rewriting the file is better. */
  get isWasteful(): boolean {
    const unused = this.#free.reduce((sum, { start, end }) => sum + end - start, 0)
    return unused > Math.max(tolerated, this.#end * toleratedShare)
  }

  /** The file with these pieces in it. They may also overwrite kept ranges. */
  slots(pieces: readonly EditPiece[]): Slot[] {
    const slots: Slot[] = []
    let reached = 0
    for (const { path, offset, bytes } of pieces.toSorted((a, b) => a.offset - b.offset)) {
      this.#fill(reached, offset, slots)
      slots.push({ kind: 'bytes', path, bytes })
      reached = offset + bytes.byteLength
    }
    this.#fill(reached, this.stayingEnd, slots)
    return slots
  }

  #fill(from: number, to: number, slots: Slot[]): void {
    let at = from
    const copy = (end: number): void => {
      if (end > at)
        slots.push({ kind: 'payload', path: 'unchanged', payload: rangePayload(this.#source, at, end - at) })
      at = Math.max(at, end)
    }
    for (const { start, end } of this.#blank) {
      if (end <= at || start >= to) continue
      copy(start)
      const length = Math.min(end, to) - at
      slots.push({ kind: 'zeros', path: 'padding', length })
      at += length
    }
    copy(to)
  }
}

async function isBlank(source: ByteSource, { start, end }: Range, signal?: AbortSignal): Promise<boolean> {
  if (end - start > maxCheckedGap || end > source.size) return false
  return (await source.read(start, end - start, { signal })).every((byte) => byte === 0)
}
