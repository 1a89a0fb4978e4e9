// A file of a layout as a source, without having been written: bytes are made when they are read. Reading the index of such a file is cheap,
// since that lies in the layout itself.
import { type ByteSource, checkRange, type OutputPiece } from '../bytes/index.js'
import { lowerBound } from '../bytes/lower-bound.js'
import { failWith, ioCodes } from '../errors/index.js'
import { type DigestSlot, type FileLayout, fileLength, type Slot, slotLength } from '../model/layout.js'
import type { Payload } from '../model/payload.js'

/** A file of a layout, with the digests that were computed when it was written and what follows from them, by their offsets. */
export interface MadeFile {
  readonly file: FileLayout
  readonly digests: ReadonlyMap<number, Uint8Array>
}

/** The first file, with the others beside it. `name` is used in messages. */
export function layoutSource(files: readonly MadeFile[], name: string): ByteSource {
  const [{ file, digests }] = files as readonly [MadeFile, ...MadeFile[]]
  const slots: Slot[] = []
  const ends: number[] = []
  let end = 0
  for (const slot of file.slots) {
    end += slotLength(slot)
    slots.push(slot)
    ends.push(end)
  }
  const source: ByteSource = {
    name,
    size: fileLength(file),
    async read(offset, length, options) {
      checkRange(source, offset, length)
      const target = new Uint8Array(length)
      for (let i = lowerBound(ends.length, (k) => ends[k]!, offset + 1); i < slots.length; i++) {
        const start = ends[i]! - slotLength(slots[i]!)
        if (start >= offset + length) break
        const from = Math.max(offset - start, 0)
        const to = Math.min(offset + length, ends[i]!) - start
        const bytes = await readSlot(slots[i]!, digests.get(start), from, to, options?.signal)
        if (bytes) target.set(bytes, start + from - offset)
      }
      return target
    },
    async sibling(other) {
      const found = files.findIndex((each) => each.file.name === other)
      if (found < 0) failWith(ioCodes['not-found'], { file: other, message: 'the output has no such file' })
      return layoutSource([files[found]!, ...files.filter((_, i) => i !== found)], other)
    },
    async close() {},
  }
  return source
}

/** Undefined for zeros. */
async function readSlot(
  slot: Slot,
  digest: Uint8Array | undefined,
  from: number,
  to: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  if (slot.kind === 'zeros') return undefined
  if (slot.kind === 'bytes') return slot.bytes.subarray(from, to)
  if (slot.kind === 'digest' || (slot.derived && digest)) return digest?.subarray(from, to)
  return readPart(slot.payload, from, to, signal)
}

async function readPart(payload: Payload, from: number, to: number, signal?: AbortSignal): Promise<Uint8Array> {
  if (payload.read) return payload.read(from, to - from, signal)
  const bytes = new Uint8Array(to - from)
  let at = 0
  for await (const chunk of payload.chunks(1 << 20, signal)) {
    const part = chunk.subarray(Math.max(from - at, 0), Math.max(to - at, 0))
    if (part.byteLength > 0) bytes.set(part, Math.max(at - from, 0))
    at += chunk.byteLength
    if (at >= to) break
  }
  return bytes
}

/** What a sink can know of a file before it is written. `isLate` tells the digests that precede what they cover. */
export function* piecesOf(
  { slots }: FileLayout,
  isLate: (slot: DigestSlot, offset: number) => boolean,
): Generator<OutputPiece, void, void> {
  let offset = 0
  for (const slot of slots) {
    const length = slotLength(slot)
    if (length > 0) yield pieceOf(slot, length, offset, isLate)
    offset += length
  }
}

function pieceOf(
  slot: Slot,
  length: number,
  offset: number,
  isLate: (slot: DigestSlot, offset: number) => boolean,
): OutputPiece {
  if (slot.kind === 'zeros') return { length, isZeros: true }
  if (slot.kind === 'payload') return { length, origin: slot.payload.origin }
  if (slot.kind === 'digest') return isLate(slot, offset) ? { length, isLate: true } : { length }
  return {
    length,
    get bytes() {
      return slot.bytes
    },
  }
}

/** Whether a digest is known only after bytes that follow it. */
export const isLateDigest = ({ covers }: DigestSlot, offset: number): boolean => (covers.at(-1)?.[1] ?? 0) > offset
