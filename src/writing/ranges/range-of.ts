// Any range of an output, made without the rest: anyone who has the same plan can make a part of a file, and the parts together are the file as one
// run writes it, byte for byte. Only checksums and hashes need more than the range that they lie in. They are zeros at first; every range
// gives its sums, and `finishFile` computes from those what belongs there.
import { checkAborted, checkRange, defaultWindow } from '../../bytes/index.js'
import { lowerBound } from '../../bytes/lower-bound.js'
import { failWith, ioCodes } from '../../errors/index.js'
import { type FileLayout, fileLength, type Layout } from '../../model/layout.js'
import { type DigestShare, RangeDigests } from './range-digests.js'
import { slotBytes } from './slot-bytes.js'
import { type SlotTable, slotTable, startOf } from './slot-table.js'

export interface RangeOptions {
  readonly window?: number
  readonly signal?: AbortSignal | undefined
  /** What `finishFile` gave: the bytes of checksums and hashes by their offsets. */
  readonly late?: ReadonlyMap<number, Uint8Array> | undefined
}

/** What a range contributes to the digests of its file: plain data, a few bytes for each digest that it has a part in. */
export interface RangeSums {
  readonly file: string
  readonly from: number
  readonly to: number
  readonly shares: readonly DigestShare[]
}

/** Some bytes, and where in the file they belong. */
export interface PlacedBytes {
  readonly at: number
  readonly bytes: Uint8Array
}

export interface OutputRange {
  readonly byteLength: number
  /** The bytes in order. A chunk is valid only until the next one is requested. */
  chunks(): AsyncGenerator<Uint8Array, void, void>
  /** The same with their places, and without those that are not known yet. */
  placed(): AsyncGenerator<PlacedBytes, void, void>
  /** To be called when all chunks have been taken. */
  sums(): RangeSums
}

/** The bytes `from` to `to` of a file of the layout. */
export function rangeOf(
  layout: Layout,
  name: string,
  from: number,
  to: number,
  options: RangeOptions = {},
): OutputRange {
  const file = fileIn(layout, name)
  checkRange({ name, size: fileLength(file) }, from, to - from)
  let shares: DigestShare[] | undefined
  async function* placed(): AsyncGenerator<PlacedBytes, void, void> {
    const { window = defaultWindow, signal, late } = options
    const table = slotTable(file)
    const found: DigestShare[] = []
    for (const segment of segmentsOf(table, from, to)) {
      if (segment.late !== undefined) {
        const start = startOf(table, segment.late)
        const bytes = late?.get(start)?.subarray(segment.from - start, segment.to - start)
        if (bytes) yield { at: segment.from, bytes }
        continue
      }
      const digests = new RangeDigests(table.digests, segment.from, segment.to)
      let at = segment.from
      for await (const bytes of slotBytes(table, segment.from, segment.to, { file: name, window, signal })) {
        checkAborted(signal, name)
        await digests.update(bytes)
        yield { at, bytes }
        at += bytes.byteLength
      }
      for (const share of digests.shares()) found.push(share)
    }
    shares = found
  }
  return {
    byteLength: to - from,
    placed,
    async *chunks() {
      let reached = from
      for await (const { at, bytes } of placed()) {
        if (at > reached) yield new Uint8Array(at - reached)
        yield bytes
        reached = at + bytes.byteLength
      }
      if (to > reached) yield new Uint8Array(to - reached)
    },
    sums() {
      if (!shares) throw new Error('the sums of a range are known when all of it has been made')
      return { file: name, from, to, shares }
    },
  }
}

export function fileIn({ files }: Layout, name: string): FileLayout {
  const file = files.find((each) => each.name === name)
  return file ?? failWith(ioCodes['not-found'], { file: name, message: 'the output has no such file' })
}

interface Segment {
  readonly from: number
  readonly to: number
  /** The index of the late slot that it is a part of. */
  readonly late?: number
}

/** A range, cut at the late slots that lie in it. */
function* segmentsOf(table: SlotTable, from: number, to: number): Generator<Segment, void, void> {
  const { late, ends } = table
  let reached = from
  for (let i = lowerBound(late.length, (k) => ends[late[k]!]!, from + 1); i < late.length; i++) {
    const start = Math.max(startOf(table, late[i]!), from)
    if (start >= to) break
    const end = Math.min(ends[late[i]!]!, to)
    if (start > reached) yield { from: reached, to: start }
    if (end > start) yield { from: start, to: end, late: late[i]! }
    reached = end
  }
  if (reached < to) yield { from: reached, to }
}
