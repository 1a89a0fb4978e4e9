// Space for an edit in a file that stays where it is. Some stretches of the file keep their place, first of all the weights; what is made
// anew goes into the room that its old form leaves, into gaps of zeros, or behind everything that stays. The part of the file behind
// the last stretch that stays is laid out afresh by every edit, so however often a file is edited, it does not grow by that.
import { alignUp, type ByteSource } from '../bytes/index.js'
import type { Slot } from '../model/layout.js'
import { rangePayload } from '../model/range-payload.js'

/** Bytes of a file, from `start` up to `end`. */
export interface Stretch {
  readonly start: number
  readonly end: number
}

export interface EditPiece {
  readonly path: string
  readonly offset: number
  readonly bytes: Uint8Array
}

export interface EditSpaceOptions {
  /** What keeps its place. Stretches must not overlap. */
  readonly staying: readonly Stretch[]
  /** Where that was which is made anew. */
  readonly freed: readonly Stretch[]
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
  /** Freed stretches and gaps of zeros between what stays, ascending; what is taken is cut off. */
  #free: Stretch[]
  /** The same before anything was taken, and all behind what stays: zeros from now on. */
  readonly #blank: readonly Stretch[]
  #end: number

  private constructor(source: ByteSource, alignment: number, stayingEnd: number, free: Stretch[]) {
    this.#source = source
    this.#alignment = alignment
    this.stayingEnd = stayingEnd
    this.#free = free
    this.#blank = [...free, { start: stayingEnd, end: Number.POSITIVE_INFINITY }]
    this.#end = stayingEnd
  }

  static async in(source: ByteSource, options: EditSpaceOptions): Promise<EditSpace> {
    const staying = options.staying.toSorted((a, b) => a.start - b.start)
    const known = [...options.staying, ...options.freed].toSorted((a, b) => a.start - b.start)
    const stayingEnd = staying.reduce((most, { end }) => Math.max(most, end), 0)
    const free = options.freed.filter(({ start, end }) => start < Math.min(end, stayingEnd))
    let reached = 0
    for (const { start, end } of known) {
      const gap = { start: reached, end: Math.min(start, stayingEnd) }
      if (gap.end > gap.start && (await isBlank(source, gap, options.signal))) free.push(gap)
      reached = Math.max(reached, end)
    }
    return new EditSpace(source, options.alignment, stayingEnd, merged(free))
  }

  /** Finds a place: the old one where that is large enough, else the first that is. */
  place(length: number, was?: Stretch): number {
    const fits = ({ start, end }: Stretch): boolean => alignUp(start, this.#alignment) + length <= end
    const isOld = ({ start, end }: Stretch): boolean =>
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

async function isBlank(source: ByteSource, { start, end }: Stretch, signal?: AbortSignal): Promise<boolean> {
  if (end - start > maxLookedAt || end > source.size) return false
  return (await source.read(start, end - start, { signal })).every((byte) => byte === 0)
}

/** Ascending; stretches that touch each other become one. */
function merged(stretches: readonly Stretch[]): Stretch[] {
  const result: { start: number; end: number }[] = []
  for (const { start, end } of stretches.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else result.push({ start, end })
  }
  return result
}

/** Whether no two of the stretches share a byte. */
export function areApart(stretches: readonly Stretch[]): boolean {
  const inOrder = stretches.filter(({ start, end }) => end > start).sort((a, b) => a.start - b.start)
  return inOrder.every(({ start }, i) => i === 0 || start >= inOrder[i - 1]!.end)
}
