// Space for an edit in a file that stays where it is. Some ranges of the file keep their place, first of all the weights; what is
// rewritten goes into the room that its old form leaves, into gaps of zeros, or behind everything that stays. The part of the file behind
// the last range that stays is laid out afresh by every edit, so however often a file is edited, it does not grow by that.
import { alignUp, type ByteSource, gaps, inOrder, joined, type Range } from '../bytes/index.js'
import type { Slot } from '../model/layout.js'
import { rangePayload } from '../model/range-payload.js'

export interface EditPiece {
  readonly path: string
  readonly offset: number
  readonly bytes: Uint8Array
}

export interface EditSpaceOptions {
  /** What keeps its place. Ranges must not overlap. */
  readonly staying: readonly Range[]
  /** Where the old form was of what is rewritten. */
  readonly freed: readonly Range[]
  /** New pieces begin on multiples of this. */
  readonly alignment: number
  readonly signal?: AbortSignal | undefined
}

/** Longer gaps that belong to nobody are left alone: looking whether they are zeros takes too long. */
const maxLookedAt = 1 << 20
/** So much unused space between what stays is tolerated, and so large a share of the file. */
const tolerated = 1 << 16
const toleratedShare = 1 / 16

export class EditSpace {
  /** Behind this nothing stays. */
  readonly stayingEnd: number
  readonly #source: ByteSource
  readonly #alignment: number
  /** Freed ranges and gaps of zeros between what stays, ascending; what is taken is cut off. */
  #free: Range[]
  /** The same before anything was taken, and all behind what stays: zeros from now on. */
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
    const stayingEnd = options.staying.reduce((most, { end }) => Math.max(most, end), 0)
    const free = options.freed.filter(({ start, end }) => start < Math.min(end, stayingEnd))
    for (const gap of gaps(inOrder([...options.staying, ...options.freed]), 0, stayingEnd)) {
      if (await isBlank(source, gap, options.signal)) free.push(gap)
    }
    return new EditSpace(source, options.alignment, stayingEnd, joined(free))
  }

  /** Finds a place: the old one where that is large enough, else the first that is. */
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

  /** A place behind everything else. */
  append(length: number): number {
    const offset = alignUp(this.#end, this.#alignment)
    this.#end = offset + length
    return offset
  }

  /** Where the file ends. */
  get end(): number {
    return this.#end
  }

  /** Whether so much room is left unused between what stays that a file written anew is the better answer. */
  get isWasteful(): boolean {
    const unused = this.#free.reduce((sum, { start, end }) => sum + end - start, 0)
    return unused > Math.max(tolerated, this.#end * toleratedShare)
  }

  /** The file with these pieces in it. They may also lie over something that stays. */
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
  if (end - start > maxLookedAt || end > source.size) return false
  return (await source.read(start, end - start, { signal })).every((byte) => byte === 0)
}
