// Completes a file that was made in ranges. Nothing of it is read: checksums and hashes follow from the sums of the ranges, and what is made
// of hashes, such as an index that lists them, follows from those.
import { joinBytes } from '../../bytes/index.js'
import { lowerBound } from '../../bytes/lower-bound.js'
import { createPieceHasher, type DigestPiece, joinPieces } from '../../digest/pieces.js'
import { failWith, writeCodes } from '../../errors/index.js'
import { type Layout, slotLength } from '../../model/layout.js'
import type { Track } from '../../threads/index.js'
import { fileIn, type RangeSums } from './range-of.js'
import { type SlotTable, slotTable, startOf, type WantedDigest } from './slot-table.js'

/** The bytes of the slots that were left blank, by their offsets. `sums` are those of ranges that cover the file. */
export async function finishFile(
  layout: Layout,
  name: string,
  sums: readonly RangeSums[],
): Promise<ReadonlyMap<number, Uint8Array>> {
  const table = slotTable(fileIn(layout, name))
  const finisher = new Finisher(table, name, sums)
  const made = new Map<number, Uint8Array>()
  for (const index of table.late) made.set(startOf(table, index), await finisher.bytesOf(index))
  return made
}

class Finisher {
  readonly #table: SlotTable
  readonly #file: string
  /** By the number of the digest. */
  readonly #pieces = new Map<number, DigestPiece[]>()
  readonly #digests = new Map<number, Uint8Array>()
  readonly #made = new Map<number, Uint8Array>()
  /** Slots that are being made, to notice one that would need itself. */
  readonly #making = new Set<number>()

  constructor(table: SlotTable, file: string, sums: readonly RangeSums[]) {
    this.#table = table
    this.#file = file
    for (const { shares } of sums.filter((each) => each.file === file))
      for (const { digest, piece } of shares) {
        const known = this.#pieces.get(digest)
        if (known) known.push(piece)
        else this.#pieces.set(digest, [piece])
      }
  }

  /** The bytes of a late slot, by its index. */
  async bytesOf(index: number): Promise<Uint8Array> {
    const known = this.#made.get(index)
    if (known) return known
    if (this.#making.has(index)) throw new Error('a digest covers bytes that depend on it')
    this.#making.add(index)
    const bytes = await this.#make(index)
    this.#making.delete(index)
    const slot = this.#table.slots[index]!
    if (bytes.byteLength !== slotLength(slot)) {
      const message = `${slotLength(slot)} bytes were planned, and ${bytes.byteLength} follow from the digests`
      failWith(writeCodes['layout-mismatch'], { file: this.#file, path: slot.path, message })
    }
    this.#made.set(index, bytes)
    return bytes
  }

  async #make(index: number): Promise<Uint8Array> {
    const slot = this.#table.slots[index]!
    if (slot.kind === 'digest') {
      const digest = await this.#digestOf(this.#table.digests.of(slot))
      return slot.encode ? slot.encode(digest) : digest
    }
    const { needs, make } = slot.kind === 'payload' ? slot.derived! : { needs: [], make: () => new Uint8Array(0) }
    const lists: Uint8Array[] = []
    for (const track of needs) lists.push(await this.#digestsIn(track))
    return make(lists)
  }

  async #digestsIn(track: Track): Promise<Uint8Array> {
    const digests: Uint8Array[] = []
    for (const wanted of this.#table.digests.in(track)) digests.push(await this.#digestOf(wanted))
    return joinBytes(digests)
  }

  async #digestOf({ number, algorithm, start, end }: WantedDigest): Promise<Uint8Array> {
    const known = this.#digests.get(number)
    if (known) return known
    const pieces = [...(this.#pieces.get(number) ?? [])]
    for await (const { from, bytes } of this.#lateWithin(start, end)) {
      const at = from - start
      const hasher = await createPieceHasher(algorithm, end - start, at, at + bytes.byteLength)
      hasher?.update(bytes)
      if (hasher) pieces.push(hasher.finish())
    }
    const digest = await joinPieces(algorithm, end - start, pieces)
    if (!digest) {
      const message = `the ${algorithm} of bytes ${start} to ${end} is not known: not all of them have been made`
      failWith(writeCodes['range-missing'], { file: this.#file, offset: start, length: end - start, message })
    }
    this.#digests.set(number, digest)
    return digest
  }

  /** The bytes of late slots that lie between `start` and `end`. */
  async *#lateWithin(start: number, end: number): AsyncGenerator<{ from: number; bytes: Uint8Array }, void, void> {
    const { late, ends } = this.#table
    for (let i = lowerBound(late.length, (k) => ends[late[k]!]!, start + 1); i < late.length; i++) {
      const at = startOf(this.#table, late[i]!)
      if (at >= end) return
      const from = Math.max(at, start)
      const bytes = (await this.bytesOf(late[i]!)).subarray(from - at, end - at)
      if (bytes.byteLength > 0) yield { from, bytes }
    }
  }
}
