// The slots of a file with their offsets, and the digests that the file needs, so that work can start at any offset. It is kept for as long as
// the layout is: a worker makes many ranges of one file.
import { lowerBound } from '../../bytes/lower-bound.js'
import type { Algorithm } from '../../digest/index.js'
import type { DigestSlot, FileLayout, Slot } from '../../model/layout.js'
import { slotLength } from '../../model/layout.js'
import type { Track } from '../../threads/index.js'

export interface SlotTable {
  readonly slots: readonly Slot[]
  /** Where each slot ends. */
  readonly ends: Float64Array
  /** The indexes of slots whose bytes follow from digests of others, ascending. */
  readonly late: readonly number[]
  readonly digests: WantedDigests
}

/** A digest that the file needs, of the bytes `start` to `end`. */
export interface WantedDigest {
  /** Its number among those of the file. */
  readonly number: number
  readonly algorithm: Algorithm
  readonly start: number
  readonly end: number
}

export interface WantedDigests {
  /** The digests that cover some of the bytes from `from` to `to`. */
  within(from: number, to: number): WantedDigest[]
  /** Whether any digest covers some of these bytes. */
  covers(from: number, to: number): boolean
  /** The digest of a slot. */
  of(slot: DigestSlot): WantedDigest
  /** The digests of a list that derived bytes need, in its order. */
  in(track: Track): WantedDigest[]
}

const tables = new WeakMap<FileLayout, SlotTable>()

export function slotTable(file: FileLayout): SlotTable {
  const known = tables.get(file)
  if (known) return known
  const slots = [...file.slots]
  const ends = new Float64Array(slots.length)
  const late: number[] = []
  let end = 0
  for (const [i, slot] of slots.entries()) {
    end += slotLength(slot)
    ends[i] = end
    if (isLate(slot)) late.push(i)
  }
  const table = { slots, ends, late, digests: wantedDigests(late.map((i) => slots[i]!)) }
  tables.set(file, table)
  return table
}

/** Whether the bytes of a slot follow from digests, which are known when all ranges have been made. */
export const isLate = (slot: Slot): boolean =>
  slot.kind === 'digest' || (slot.kind === 'payload' && slot.derived !== undefined)

/** The index of the slot that holds the byte at `offset`; empty slots hold none. */
export const slotAt = ({ ends }: SlotTable, offset: number): number =>
  lowerBound(ends.length, (i) => ends[i]!, offset + 1)

export const startOf = ({ ends }: SlotTable, index: number): number => (index === 0 ? 0 : ends[index - 1]!)

function wantedDigests(late: readonly Slot[]): WantedDigests {
  const ofSlots = slotTracks(late.filter((slot) => slot.kind === 'digest'))
  const derived = late.flatMap((slot) => (slot.kind === 'payload' ? slot.derived!.needs : []))
  const tracks = [...new Set([...ofSlots.values(), ...derived])]
  const firstOf = new Map<Track, number>()
  let count = 0
  for (const track of tracks) {
    firstOf.set(track, count)
    count += track.starts.length
  }
  const wanted = (track: Track, i: number): WantedDigest => ({
    number: firstOf.get(track)! + i,
    algorithm: track.algorithm,
    start: track.starts[i]!,
    end: track.ends[i]!,
  })
  const reaches = new Map(tracks.map((track) => [track, reachOf(track)]))
  function* within(from: number, to: number): Generator<WantedDigest, void, void> {
    for (const track of tracks) {
      const reach = reaches.get(track)!
      const first = lowerBound(reach.length, (i) => reach[i]!, from + 1)
      for (let i = first; i < reach.length && track.starts[i]! < to; i++)
        if (track.ends[i]! > from && track.ends[i]! > track.starts[i]!) yield wanted(track, i)
    }
  }
  return {
    within: (from, to) => [...within(from, to)].sort((a, b) => a.start - b.start),
    covers: (from, to) => !within(from, to).next().done,
    of(slot) {
      const track = ofSlots.get(slot.algorithm)!
      const [start, end] = rangeOfSlot(slot)
      let i = lowerBound(track.starts.length, (k) => track.starts[k]!, start)
      while (track.ends[i] !== end) i++
      return wanted(track, i)
    },
    in: (track) => Array.from(track.starts, (_, i) => wanted(track, i)),
  }
}

/** The digests that slots hold, by algorithm. An archive states the checksum of a member twice; it is computed once. */
function slotTracks(slots: readonly DigestSlot[]): ReadonlyMap<Algorithm, Track> {
  const ranges = new Map<Algorithm, (readonly [number, number])[]>()
  for (const slot of slots) {
    const list = ranges.get(slot.algorithm)
    if (list) list.push(rangeOfSlot(slot))
    else ranges.set(slot.algorithm, [rangeOfSlot(slot)])
  }
  const tracks = new Map<Algorithm, Track>()
  for (const [algorithm, list] of ranges) {
    const ordered = list.sort((a, b) => a[0] - b[0] || a[1] - b[1])
    const distinct = ordered.filter(([start, end], i) => start !== ordered[i - 1]?.[0] || end !== ordered[i - 1]![1])
    const starts = Float64Array.from(distinct, ([start]) => start)
    tracks.set(algorithm, { algorithm, starts, ends: Float64Array.from(distinct, ([, end]) => end) })
  }
  return tracks
}

function rangeOfSlot({ covers, masked, path }: DigestSlot): readonly [number, number] {
  // No format needs more than that in a layout.
  if (covers.length > 1 || masked) throw new Error(`the digest at ${path} is not that of one range`)
  return covers[0] ?? [0, 0]
}

/** How far the ranges up to each one reach: ranges can lie in each other. */
function reachOf({ ends }: Track): Float64Array {
  let reach = 0
  return ends.map((end) => {
    reach = Math.max(reach, end)
    return reach
  })
}
