// If a layout leaves the weights where they are in the file, the difference is a short list of patches. Here a layout is compared with the
// file, so formats need not know how files are patched.
import { type ByteSource, defaultWindow } from '../bytes/index.js'
import { createHasher } from '../digest/index.js'
import { type DigestSlot, type FileLayout, fileLength, type Payload, readPayload, slotLength } from '../model/index.js'

export interface Patch {
  readonly offset: number
  readonly bytes: Uint8Array
}

/** What turns one state of a file into another. */
export interface FilePatch {
  /** Ascending, without overlap. */
  readonly patches: readonly Patch[]
  /** The size of the patched file. */
  readonly size: number
}

/** The maximum number of bytes that are compared and possibly kept twice; a larger change is better rewritten. */
const maxBytes = 64 << 20

interface Piece {
  readonly offset: number
  readonly length: number
  /** Undefined: bytes that are already there, or a digest. */
  bytes?: Uint8Array
  readonly digest?: DigestSlot
}

/** Undefined when a payload would have to move, or too much else changes. */
export async function patchesFor(
  file: FileLayout,
  source: ByteSource,
  weights: readonly Payload[],
  signal?: AbortSignal,
): Promise<FilePatch | undefined> {
  const size = fileLength(file)
  const pieces = source.size - size > maxBytes ? undefined : await cutPieces(file, source, new Set(weights), signal)
  if (!pieces) return undefined
  const content = new NewContent(pieces, source, signal)
  const patches: Patch[] = []
  for (const piece of pieces) {
    const bytes = piece.digest ? await content.digestOf(piece) : piece.bytes
    if (bytes) for (const each of await differing(piece.offset, bytes, source, signal)) patches.push(each)
  }
  if (patches.some((patch) => touchesAny(patch, weights))) return undefined
  return { patches, size }
}

async function cutPieces(
  file: FileLayout,
  source: ByteSource,
  weights: ReadonlySet<Payload>,
  signal?: AbortSignal,
): Promise<Piece[] | undefined> {
  let total = 0
  let offset = 0
  for (const slot of file.slots) {
    const isThere = slot.kind === 'payload' && liesAt(slot.payload, source, offset)
    if (slot.kind === 'payload' && !isThere && (slot.payload.origin?.source === source || weights.has(slot.payload)))
      return undefined
    if (!isThere) total += slotLength(slot)
    offset += slotLength(slot)
  }
  if (total > maxBytes) return undefined
  const pieces: Piece[] = []
  offset = 0
  for (const slot of file.slots) {
    const piece: Piece = { offset, length: slotLength(slot), ...(slot.kind === 'digest' && { digest: slot }) }
    if (slot.kind === 'bytes') piece.bytes = slot.bytes
    else if (slot.kind === 'zeros') piece.bytes = new Uint8Array(slot.length)
    else if (slot.kind === 'payload' && !liesAt(slot.payload, source, offset))
      piece.bytes = await readPayload(slot.payload, signal)
    if (piece.length > 0) pieces.push(piece)
    offset += piece.length
  }
  return pieces
}

function liesAt({ origin }: Payload, source: ByteSource, offset: number): boolean {
  return origin !== undefined && origin.source === source && origin.offset === offset
}

function touchesAny({ offset, bytes }: Patch, payloads: readonly Payload[]): boolean {
  return payloads.some(({ origin }) => {
    return origin && offset < origin.offset + origin.length && offset + bytes.byteLength > origin.offset
  })
}

/** The new bytes between the first and the last byte that differ, and everything beyond the end of the file. */
async function differing(
  offset: number,
  bytes: Uint8Array,
  source: ByteSource,
  signal?: AbortSignal,
): Promise<Patch[]> {
  const known = Math.max(0, Math.min(bytes.byteLength, source.size - offset))
  const old = known === 0 ? new Uint8Array(0) : await source.read(offset, known, { signal })
  let start = 0
  while (start < known && old[start] === bytes[start]) start++
  let end = bytes.byteLength
  if (known === end) while (end > start && old[end - 1] === bytes[end - 1]) end--
  return start === end ? [] : [{ offset: offset + start, bytes: bytes.subarray(start, end) }]
}

/** The patched file, for digests over its own bytes. */
class NewContent {
  readonly #pieces: readonly Piece[]
  readonly #source: ByteSource
  readonly #signal: AbortSignal | undefined
  readonly #digests = new Map<Piece, Uint8Array>()

  constructor(pieces: readonly Piece[], source: ByteSource, signal: AbortSignal | undefined) {
    this.#pieces = pieces
    this.#source = source
    this.#signal = signal
  }

  async digestOf(piece: Piece): Promise<Uint8Array> {
    const known = this.#digests.get(piece)
    if (known) return known
    const { algorithm, covers, masked = [], encode } = piece.digest!
    const hasher = await createHasher(algorithm)
    for (const [start, end] of covers) {
      for await (const bytes of this.#read(start, end, masked)) hasher.update(bytes)
    }
    const digest = hasher.digest()
    const stored = encode ? encode(digest) : digest
    this.#digests.set(piece, stored)
    return stored
  }

  async *#read(start: number, end: number, masked: NonNullable<DigestSlot['masked']>): AsyncGenerator<Uint8Array> {
    // A mask splits a range in two, with zeros between.
    const mask = masked.find(([from, to]) => from < end && to > start)
    if (mask) {
      const from = Math.max(start, mask[0])
      const to = Math.min(end, mask[1])
      yield* this.#read(start, from, [])
      yield new Uint8Array(to - from)
      yield* this.#read(to, end, masked)
      return
    }
    for (const piece of this.#pieces) {
      const from = Math.max(start, piece.offset)
      const to = Math.min(end, piece.offset + piece.length)
      if (from >= to) continue
      const bytes = piece.digest ? await this.digestOf(piece) : piece.bytes
      if (bytes) yield bytes.subarray(from - piece.offset, to - piece.offset)
      else {
        for (let at = from; at < to; at += defaultWindow)
          yield await this.#source.read(at, Math.min(defaultWindow, to - at), { signal: this.#signal })
      }
    }
  }
}
