// The bytes of an object as pieces, so that an object of many gigabytes of zeros takes no memory, and a copy of it none either.
import { createHash } from 'node:crypto'

type Piece = Uint8Array | { readonly zeros: number }

export interface Content {
  readonly size: number
  readonly pieces: readonly Piece[]
}

const lengthOf = (piece: Piece): number => (piece instanceof Uint8Array ? piece.byteLength : piece.zeros)

export function contentOf(...pieces: Piece[]): Content {
  return { size: pieces.reduce((sum, piece) => sum + lengthOf(piece), 0), pieces }
}

export const joined = (parts: readonly Content[]): Content => contentOf(...parts.flatMap(({ pieces }) => pieces))

/** A range of it, of pieces too. */
export function slice({ pieces }: Content, start: number, end: number): Content {
  const found: Piece[] = []
  let at = 0
  for (const piece of pieces) {
    const length = lengthOf(piece)
    const [from, to] = [Math.max(start - at, 0), Math.min(end - at, length)]
    if (from < to) found.push(piece instanceof Uint8Array ? piece.subarray(from, to) : { zeros: to - from })
    at += length
  }
  return contentOf(...found)
}

export const bytesOf = ({ pieces }: Content): Buffer =>
  Buffer.concat(pieces.map((piece) => (piece instanceof Uint8Array ? piece : Buffer.alloc(piece.zeros))))

/** Like that of a store, a digest of the bytes; zeros that are not there count by their number. */
export function etagOf({ pieces }: Content): string {
  const hash = createHash('md5')
  for (const piece of pieces) hash.update(piece instanceof Uint8Array ? piece : `${piece.zeros} zeros`)
  return `"${hash.digest('hex')}"`
}
