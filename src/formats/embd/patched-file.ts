// A file with some of its bytes replaced, before it is written: for its checksums, and for the layout that writes it.
import { type ByteSource, streamRange } from '../../bytes/index.js'
import { createHasher } from '../../digest/index.js'
import { rangePayload, type Slot } from '../../model/index.js'
import { readCrc32 } from './crc.js'

export interface Patch {
  readonly offset: number
  readonly bytes: Uint8Array
}

type Piece = { readonly start: number; readonly end: number; readonly bytes?: Uint8Array }

const window = 1 << 21

export class PatchedFile {
  readonly #source: ByteSource
  readonly #patches: readonly Patch[]

  /** Patches do not overlap. */
  constructor(source: ByteSource, patches: readonly Patch[]) {
    this.#source = source
    this.#patches = patches.toSorted((a, b) => a.offset - b.offset)
  }

  /** The CRC-32 of bytes [start, end). */
  async crc(start: number, end: number, signal: AbortSignal | undefined): Promise<number> {
    const hasher = await createHasher('crc32')
    for (const piece of this.#pieces(start, end)) {
      if (piece.bytes) {
        hasher.update(piece.bytes)
        continue
      }
      const range = { source: this.#source, offset: piece.start, length: piece.end - piece.start }
      for await (const chunk of streamRange(range, window, signal)) hasher.update(chunk)
    }
    return readCrc32(hasher.digest())
  }

  slots(start: number, end: number): Slot[] {
    return [...this.#pieces(start, end)].map((piece) =>
      piece.bytes
        ? { kind: 'bytes', path: 'repaired', bytes: piece.bytes }
        : {
            kind: 'payload',
            path: 'copied',
            payload: rangePayload(this.#source, piece.start, piece.end - piece.start),
          },
    )
  }

  *#pieces(start: number, end: number): Generator<Piece, void, void> {
    let at = start
    for (const { offset, bytes } of this.#patches) {
      const from = Math.max(offset, start)
      const to = Math.min(offset + bytes.byteLength, end)
      if (from >= to) continue
      if (at < from) yield { start: at, end: from }
      yield { start: from, end: to, bytes: bytes.subarray(from - offset, to - offset) }
      at = to
    }
    if (at < end) yield { start: at, end }
  }
}
