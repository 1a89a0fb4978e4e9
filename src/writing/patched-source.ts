// A damaged file as it would be with its index repaired: ranges of the file with replacement bytes between them. Readers need not know that
// some bytes were replaced, and payloads still come from the file.
import { type ByteSource, checkRange } from '../bytes/index.js'

/** A range of the file, or bytes that replace one. */
export type PatchPiece = Uint8Array | { readonly offset: number; readonly length: number }

const lengthOf = (piece: PatchPiece): number => (piece instanceof Uint8Array ? piece.byteLength : piece.length)

export function patchedSource(source: ByteSource, pieces: readonly PatchPiece[]): ByteSource {
  const starts: number[] = []
  let size = 0
  for (const piece of pieces) {
    starts.push(size)
    size += lengthOf(piece)
  }
  const repaired: ByteSource = {
    name: source.name,
    size,
    ...(source.folder && { folder: source.folder }),
    async read(offset, length, options) {
      checkRange(repaired, offset, length)
      const bytes = new Uint8Array(length)
      for (const [i, piece] of pieces.entries()) {
        const from = Math.max(offset, starts[i]!)
        const to = Math.min(offset + length, starts[i]! + lengthOf(piece))
        if (from >= to) continue
        const at = from - starts[i]!
        const part =
          piece instanceof Uint8Array
            ? piece.subarray(at, at + to - from)
            : await source.read(piece.offset + at, to - from, options)
        if (part.byteLength === length) return part
        bytes.set(part, from - offset)
      }
      return bytes
    },
    close: () => source.close(),
  }
  if (source.sibling) repaired.sibling = (name, hint) => source.sibling!(name, hint)
  if (source.below) repaired.below = (path, hint) => source.below!(path, hint)
  return repaired
}
