// Digests of bytes that different machines make: each sums up its own piece, and the sums are joined afterwards by somebody who never saw
// the bytes. CRC-32 sums of adjacent pieces combine to that of both. For BLAKE3 a piece gives the nodes of the tree that lie in it, about two
// per doubling of its length, and the bytes of the chunks of 1 KiB that it shares with its neighbours. SHA-256 has no sums of pieces.
import { chunkSize } from '../kernels/digests/blake3.js'
import { blake3Kernel } from '../kernels/digests/index.js'
import { combineCrc32 } from './crc32.js'
import { createHasher } from './hasher.js'
import { createSubtreeHasher } from './subtree.js'
import type { Algorithm, Hasher } from './types.js'

/** A node of a BLAKE3 tree, or some bytes of one chunk. */
export interface TreeNode {
  /** The size of the node, a power of two; 0 for bytes that are less than a chunk. */
  readonly chunks: number
  /** The node's chaining value, or the bytes themselves. */
  readonly bytes: Uint8Array
}

/** What a part of the input contributes to a digest. */
export interface DigestPiece {
  /** The part of the input, [from, to). */
  readonly from: number
  readonly to: number
  /** The digest of these bytes alone: for CRC-32, and for a piece that is the whole input. */
  readonly digest?: Uint8Array
  /** In the order of the input, for any other piece under BLAKE3. */
  readonly nodes?: readonly TreeNode[]
}

export interface PieceHasher {
  update(bytes: Uint8Array): void
  finish(): DigestPiece
}

/** Sums up the bytes `from` to `to` of an input of `length` bytes; undefined if the algorithm has no sums of pieces. */
export async function createPieceHasher(
  algorithm: Algorithm,
  length: number,
  from: number,
  to: number,
): Promise<PieceHasher | undefined> {
  const isWhole = from === 0 && to === length
  if (algorithm === 'sha256' && !isWhole) return undefined
  if (algorithm === 'blake3' && !isWhole) return new TreePieceHasher(from, to)
  const hasher = await createHasher(algorithm)
  return { update: (bytes) => hasher.update(bytes), finish: () => ({ from, to, digest: hasher.digest() }) }
}

/** Cuts a piece into the largest subtrees that it holds. */
class TreePieceHasher implements PieceHasher {
  readonly #from: number
  readonly #to: number
  #at: number
  /** Bytes that the current node still takes. */
  #left = 0
  #chunks = 0
  #subtree: Hasher | undefined
  #bytes: Uint8Array | undefined
  readonly #nodes: TreeNode[] = []

  constructor(from: number, to: number) {
    this.#from = from
    this.#to = to
    this.#at = from
  }

  update(bytes: Uint8Array): void {
    for (let rest = bytes; rest.byteLength > 0; ) {
      if (this.#left === 0) this.#begin()
      const part = rest.subarray(0, this.#left)
      rest = rest.subarray(part.byteLength)
      this.#subtree?.update(part)
      this.#bytes?.set(part, this.#bytes.byteLength - this.#left)
      this.#at += part.byteLength
      this.#left -= part.byteLength
      if (this.#left === 0) this.#nodes.push({ chunks: this.#chunks, bytes: this.#subtree?.digest() ?? this.#bytes! })
    }
  }

  #begin(): void {
    const rest = this.#to - this.#at
    const toBorder = chunkSize - (this.#at % chunkSize)
    const isWithin = toBorder < chunkSize || rest < chunkSize
    const chunk = Math.floor(this.#at / chunkSize)
    this.#chunks = isWithin ? 0 : largestSubtree(chunk, Math.floor(rest / chunkSize))
    this.#left = isWithin ? Math.min(toBorder, rest) : this.#chunks * chunkSize
    this.#bytes = isWithin ? new Uint8Array(this.#left) : undefined
    this.#subtree = isWithin ? undefined : createSubtreeHasher(chunk)
  }

  finish(): DigestPiece {
    return { from: this.#from, to: this.#to, nodes: this.#nodes }
  }
}

/** The chunks of the largest subtree that begins with this chunk and has at most `count`. */
function largestSubtree(chunk: number, count: number): number {
  let size = 1
  while (chunk % (2 * size) === 0 && 2 * size <= count) size *= 2
  return size
}

/** The digest of the whole input; undefined if the pieces leave something out. A piece may be there twice. */
export async function joinPieces(
  algorithm: Algorithm,
  length: number,
  pieces: readonly DigestPiece[],
): Promise<Uint8Array | undefined> {
  const ordered: DigestPiece[] = []
  let reached = 0
  for (const piece of pieces.toSorted((a, b) => a.from - b.from || b.to - a.to)) {
    if (piece.to <= reached) continue
    if (piece.from !== reached) return undefined
    ordered.push(piece)
    reached = piece.to
  }
  if (reached !== length) return undefined
  if (ordered.length === 0) return (await createHasher(algorithm)).digest()
  if (ordered.length === 1) return ordered[0]!.digest
  return algorithm === 'crc32' ? joinSums(ordered) : algorithm === 'blake3' ? joinNodes(ordered) : undefined
}

function joinSums(pieces: readonly DigestPiece[]): Uint8Array | undefined {
  let sum = 0
  for (const { from, to, digest } of pieces) {
    if (!digest) return undefined
    sum = combineCrc32(sum, new DataView(digest.buffer, digest.byteOffset).getUint32(0), to - from)
  }
  const joined = new Uint8Array(4)
  new DataView(joined.buffer).setUint32(0, sum)
  return joined
}

function joinNodes(pieces: readonly DigestPiece[]): Uint8Array | undefined {
  const join = new TreeJoin()
  for (const { nodes } of pieces) {
    if (!nodes) return undefined
    for (const node of nodes) join.add(node)
  }
  return join.finish()
}

/** Two nodes of one size are combined only when something follows: the last pair is the root, which is flagged. */
class TreeJoin {
  readonly #kernel = blake3Kernel()
  readonly #waiting: TreeNode[] = []
  /** The number of chunks in those. */
  #count = 0
  readonly #chunk = new Uint8Array(chunkSize)
  #filled = 0

  add(node: TreeNode): void {
    if (this.#filled === chunkSize) this.#closeChunk()
    if (node.chunks > 0) this.#push(node)
    else {
      this.#chunk.set(node.bytes, this.#filled)
      this.#filled += node.bytes.byteLength
    }
  }

  #closeChunk(): void {
    const bytes = this.#kernel.subtree(this.#chunk.subarray(0, this.#filled), this.#count, false)
    this.#filled = 0
    this.#push({ chunks: 1, bytes })
  }

  #push(node: TreeNode): void {
    const waiting = this.#waiting
    while (waiting.length > 1 && waiting.at(-1)!.chunks === waiting.at(-2)!.chunks) {
      const right = waiting.pop()!
      const left = waiting.pop()!
      waiting.push({ chunks: 2 * left.chunks, bytes: this.#kernel.parent(left.bytes, right.bytes, false) })
    }
    waiting.push(node)
    this.#count += node.chunks
  }

  finish(): Uint8Array {
    if (this.#count === 0) return this.#kernel.subtree(this.#chunk.subarray(0, this.#filled), 0, true)
    if (this.#filled > 0) this.#closeChunk()
    let value = this.#waiting.pop()!.bytes
    while (this.#waiting.length > 0)
      value = this.#kernel.parent(this.#waiting.pop()!.bytes, value, this.#waiting.length === 0)
    return value
  }
}
