// Cuts a file into parts that workers make on their own. It depends on the layout and the sizes alone, so everybody who has the plan finds the
// same cuts. The defaults are the limits of object stores.
//
// A part that holds checksums or hashes waits for all others, so it is kept small. An unchanged payload that no digest covers is cut at its own
// start and end: a store copies what lies between by itself. A recoded payload is cut between its blocks. One that can only be made from its
// start is not cut, unless a part would be too large; one that takes more work in slices, only if it would be several parts. Digests need no
// special cuts, since their sums can begin anywhere.
import type { ByteRange } from '../../bytes/index.js'
import { type FileLayout, fileLength, type PayloadSlot, type Slot } from '../../model/layout.js'
import type { Slices } from '../../model/payload.js'
import { isLate, type SlotTable, slotTable, startOf } from './slot-table.js'

export interface CutOptions {
  /** The size that parts should have. */
  readonly partSize?: number
  /** The minimum for every part but the last. */
  readonly minPart?: number
  readonly maxPart?: number
  readonly maxParts?: number
  /** The end of the file is cut into shorter parts. Default: it is cut like the rest. */
  readonly tail?: Tail
  /** Shorter payloads are not copied by themselves. */
  readonly minCopy?: number
  /** Whether such a range can be copied inside the store. Default: any. */
  canCopy?(range: ByteRange): boolean
}

export interface Tail {
  /** How much of the file that is, from 0 to 1. */
  readonly share: number
  /** The size of its parts, where others have 1. */
  readonly fraction: number
}

export interface FilePart {
  readonly from: number
  readonly to: number
  /** It holds bytes that are known when all other parts have been made. */
  readonly isLate?: true
  /** It is this range of a source. */
  readonly copyOf?: ByteRange
}

const mebi = 2 ** 20
const defaults = {
  partSize: 64 * mebi,
  minPart: 5 * mebi,
  maxPart: 5 * 1024 * mebi,
  maxParts: 10_000,
  minCopy: 10 * mebi,
  canCopy: () => true,
} as const

/** The parts of a file, in order, without gaps. */
export function cutFile(file: FileLayout, options: CutOptions = {}): readonly FilePart[] {
  const size = fileLength(file)
  if (size === 0) return []
  if (file.isIndivisible) return [{ from: 0, to: size }]
  return new Cutter(slotTable(file), size, { ...defaults, ...options }).cut()
}

type Settings = Required<Omit<CutOptions, 'tail'>> & Pick<CutOptions, 'tail'>

interface Sizes {
  readonly minPart: number
  readonly partSize: number
  readonly maxPart: number
}

class Cutter {
  readonly #table: SlotTable
  readonly #options: Settings
  readonly #head: Sizes
  readonly #tail: Sizes
  readonly #tailFrom: number
  readonly #parts: FilePart[] = []
  /** The part that is being collected. */
  #from = 0
  #isLate = false

  constructor(table: SlotTable, size: number, sizes: Settings) {
    this.#table = table
    const { share, fraction } = sizes.tail ?? { share: 0, fraction: 1 }
    // With all but the last at least as long as this there are never too many. With a tail, two can be the last of their kind.
    const most = sizes.tail ? Math.max(1, sizes.maxParts - 1) : sizes.maxParts
    const enough = (size / most) * (1 - share + share / fraction)
    const sized = (part: number): Sizes => {
      const minPart = Math.max(1, sizes.minPart, Math.ceil(enough * part))
      const partSize = Math.max(Math.floor(sizes.partSize * part), minPart)
      return { minPart, partSize, maxPart: Math.max(sizes.maxPart, partSize, 2 * minPart) }
    }
    this.#options = sizes
    this.#head = sized(1)
    this.#tail = sized(fraction)
    this.#tailFrom = Math.ceil(size * (1 - share))
  }

  /** The sizes for a part that begins where the last one ended. */
  get #sizes(): Sizes {
    return this.#from < this.#tailFrom ? this.#head : this.#tail
  }

  cut(): readonly FilePart[] {
    const { slots, ends } = this.#table
    for (const [i, slot] of slots.entries()) {
      const start = startOf(this.#table, i)
      const end = ends[i]!
      if (start === end) continue
      if (isLate(slot)) this.#passLate(start)
      else if (slot.kind === 'payload' && this.#isCopied(slot, start, end)) this.#passCopied(slot, start, end)
      else this.#passMade(slot, start, end)
    }
    this.#close(ends.at(-1)!)
    return this.#parts
  }

  #passLate(start: number): void {
    if (start - this.#from >= this.#sizes.minPart) this.#close(start)
    this.#isLate = true
  }

  #isCopied(slot: PayloadSlot, start: number, end: number): boolean {
    const { origin } = slot.plain ?? slot.payload
    if (!origin || end - start < this.#options.minCopy || !this.#options.canCopy(origin)) return false
    return !this.#table.digests.covers(start, end)
  }

  /** What the part before still lacks, it takes from the payload. */
  #passCopied({ plain, payload }: PayloadSlot, start: number, end: number): void {
    const { minPart, maxPart } = this.#sizes
    const first = this.#from === start ? start : Math.max(start, this.#from + minPart)
    if (end - first < minPart) return
    this.#close(first)
    const { source, offset } = (plain ?? payload).origin!
    const count = Math.ceil((end - first) / maxPart)
    for (let i = 1; i <= count; i++) {
      const from = this.#from
      const to = first + Math.floor(((end - first) * i) / count)
      this.#close(to, { source, offset: offset + from - start, length: to - from })
    }
  }

  #passMade(slot: Slot, start: number, end: number): void {
    const { partSize, minPart } = this.#sizes
    const slices = slicesOf(slot)
    if (!slices || (slices.costRanges && end - start < minCostly * partSize)) {
      this.#passRange(undefined, 1, start, end)
      return
    }
    const { unit, costRanges = [{ end: end - start, cost: 1 }] } = slices
    if (costRanges.length > 1 && start - this.#from >= minPart) this.#close(start)
    // Parts that take about the same work.
    const minCost = Math.min(...costRanges.map(({ cost }) => cost))
    let from = start
    for (const range of costRanges) {
      this.#passRange(unit, minCost / range.cost, from, start + range.end)
      from = start + range.end
    }
  }

  /** `unit`: where it can be cut, counted from `start`. `scale`: of the size that parts have. */
  #passRange(unit: number | undefined, scale: number, start: number, end: number): void {
    const sizeOf = ({ partSize, minPart }: Sizes): number => Math.max(minPart, Math.floor(partSize * scale))
    const { minPart } = this.#sizes
    // Where nothing but the ends of the slot is a border, the slot before it must not drag it into its part.
    if (unit === undefined && end - this.#from > sizeOf(this.#sizes) && start - this.#from >= minPart)
      this.#close(start)
    for (;;) {
      const { minPart, maxPart } = this.#sizes
      const step = unit ?? maxPart
      const wanted = this.#from + (this.#isLate ? minPart : unit === undefined ? maxPart : sizeOf(this.#sizes))
      const earliest = Math.max(start, this.#from + minPart)
      const below = start + Math.floor((wanted - start) / step) * step
      const border = below >= earliest ? below : start + Math.ceil((earliest - start) / step) * step
      if (border >= end) break
      this.#close(border)
    }
    if (end - this.#from >= (this.#isLate ? this.#sizes.minPart : sizeOf(this.#sizes))) this.#close(end)
  }

  #close(to: number, copyOf?: ByteRange): void {
    if (to === this.#from) return
    const from = this.#from
    this.#parts.push({ from, to, ...(this.#isLate && { isLate: true }), ...(copyOf && { copyOf }) })
    this.#from = to
    this.#isLate = false
  }
}

/** A payload whose slices together take more work than the whole is cut if it is at least this many parts long. */
const minCostly = 4

/** Where a slot can be cut; undefined if it can only be made from its start. */
function slicesOf(slot: Slot): Pick<Slices, 'unit' | 'costRanges'> | undefined {
  if (slot.kind !== 'payload') return anywhere
  const { slices, read } = slot.plain ?? slot.payload
  return slices ?? (read && anywhere)
}

const anywhere = { unit: 1 }
