// One chunk: where it is, and its content once it was fetched, unfolded and compared with its hash.
import type { ByteSource } from '../../../bytes/index.js'
import { digestOf } from '../../../digest/index.js'
import type { Code } from '../../../errors/index.js'
import type { ReadContext } from '../../../model/index.js'
import { digestRanges } from '../../../threads/index.js'
import { zstdCodes } from '../../../wire/zstd/codes.js'
import { decodeZstd, isZstdFault } from '../../../wire/zstd/zstd.js'
import { codes } from '../codes.js'
import { flags, hasFlag, maxMetadata } from '../structs.js'

export interface Chunk {
  /** Position in the table of contents. */
  readonly index: number
  readonly fourcc: string
  readonly name: string
  readonly flags: number
  readonly offset: number
  /** Stored bytes. */
  readonly length: number
  /** Bytes after unfolding. */
  readonly ulen: number
  readonly hash: Uint8Array
}

export interface ChunkContent {
  readonly chunk: Chunk
  readonly bytes: Uint8Array
}

export const isCompressed = (chunk: Pick<Chunk, 'flags'>): boolean => hasFlag(chunk.flags, flags.zstd)
export const isBlank = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0)
export const entryPath = (index: number): string => `toc.entries[${index}]`

/** How messages call a chunk. Names come from the file, so they are quoted. */
export const describeChunk = (chunk: Pick<Chunk, 'fourcc' | 'name'>): string =>
  `${/^[\x21-\x7e]{4}$/.test(chunk.fourcc) ? chunk.fourcc : JSON.stringify(chunk.fourcc)} ${JSON.stringify(chunk.name)}`

/** A plain loop: this is asked for a million digests. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.byteLength !== b.byteLength) return false
  for (let i = 0; i < a.byteLength; i++) if (a[i] !== b[i]) return false
  return true
}

/** A chunk that was compared with its hash; without bytes it is one that is better read a piece at a time. */
export interface CheckedChunk {
  readonly chunk: Chunk
  readonly bytes: Uint8Array | undefined
}

/** The content of metadata chunks, in their order; what cannot be had is reported and left out. */
export async function readChunks(
  source: ByteSource,
  chunks: readonly Chunk[],
  context: ReadContext,
): Promise<ChunkContent[]> {
  return (await checkChunks(source, chunks, context, () => false)) as ChunkContent[]
}

/** The same; but of those that are `long`, which must be stored plainly, the bytes are read for their hash alone. */
export async function checkChunks(
  source: ByteSource,
  chunks: readonly Chunk[],
  context: ReadContext,
  isLong: (chunk: Chunk) => boolean,
): Promise<CheckedChunk[]> {
  const affordable = chunks.filter((chunk) => isAffordable(chunk, context))
  const whole = affordable.filter((chunk) => !isLong(chunk))
  const stored = await fetchStored(source, whole, context)
  const contents: CheckedChunk[] = []
  for (const chunk of affordable) {
    const own = stored.get(chunk)
    const bytes = own && (await unfold(chunk, own, context))
    if (own && !bytes) continue
    const digest = bytes ? await digestOf('blake3', bytes) : await digestStored(chunk, source, context)
    reportHash(chunk, digest, context)
    contents.push({ chunk, bytes })
  }
  return contents
}

/** Up to here anything goes; beyond, a chunk that unfolds to more than this many times its size is a trap. */
const freeSize = 64 * 2 ** 20
const maxRatio = 1000

function isAffordable(chunk: Chunk, { report, limits }: ReadContext): boolean {
  const limit = Math.min(maxMetadata, limits.indexBytes)
  const size = Math.max(chunk.length, isCompressed(chunk) ? chunk.ulen : 0)
  const isBomb = size > freeSize && size > maxRatio * chunk.length
  if (size <= limit && !isBomb) return true
  const field = chunk.length > limit ? 'chunk_length' : 'chunk_ulen'
  const why = isBomb ? `which no metadata unfolds to from ${chunk.length}` : `the limit is ${limit}`
  const message = `${describeChunk(chunk)} would take ${size} bytes of memory, ${why}`
  report.report(codes['chunk-meta-cap'], { offset: chunk.offset, path: `${entryPath(chunk.index)}.${field}`, message })
  return false
}

/** Chunks that lie close together come in one read: over a network that is what counts. */
const fetchGap = 65_536

async function fetchStored(
  source: ByteSource,
  chunks: readonly Chunk[],
  { signal }: ReadContext,
): Promise<Map<Chunk, Uint8Array>> {
  const stored = new Map<Chunk, Uint8Array>()
  const inOrder = chunks.toSorted((a, b) => a.offset - b.offset)
  for (let i = 0; i < inOrder.length; ) {
    const start = inOrder[i]!.offset
    const group: Chunk[] = []
    let end = start
    for (; i < inOrder.length; i++) {
      const chunk = inOrder[i]!
      if (group.length > 0 && chunk.offset > end + fetchGap) break
      group.push(chunk)
      end = Math.max(end, chunk.offset + chunk.length)
    }
    const bytes = await source.read(start, end - start, { signal })
    for (const chunk of group) {
      const at = chunk.offset - start
      stored.set(chunk, bytes.subarray(at, at + chunk.length))
    }
  }
  return stored
}

async function unfold(chunk: Chunk, stored: Uint8Array, { report }: ReadContext): Promise<Uint8Array | undefined> {
  if (!isCompressed(chunk)) return stored
  const content = await decodeZstd(stored, chunk.ulen)
  if (!isZstdFault(content)) return content
  const code: Code = {
    corrupt: codes['chunk-zstd'],
    size: codes['chunk-ulen'],
    trailing: codes['chunk-zstd-trailing'],
    unavailable: zstdCodes.unavailable,
  }[content.fault]
  // Where something is missing that is behind the last byte; the finding is about the chunk, so it stays inside.
  const offset = chunk.offset + Math.max(0, Math.min(content.at, chunk.length - 1))
  report.report(code, {
    offset,
    path: `chunks[${chunk.index}]`,
    message: `${describeChunk(chunk)}: ${content.message}`,
  })
  return undefined
}

/** The hash of the bytes as they are stored, which are not kept. */
async function digestStored(
  { offset, length }: Chunk,
  source: ByteSource,
  { signal }: ReadContext,
): Promise<Uint8Array> {
  return (await digestRanges(source, [{ start: offset, end: offset + length }], { signal }))(0)
}

/** Compares a chunk's digest with the table of contents. */
export function reportHash(chunk: Chunk, digest: Uint8Array, { report }: Pick<ReadContext, 'report'>): boolean {
  if (sameBytes(digest, chunk.hash)) return true
  complainHash(chunk, { report })
  return false
}

export function complainHash(chunk: Chunk, { report }: Pick<ReadContext, 'report'>): void {
  const place = { offset: chunk.offset, length: chunk.length, path: `chunks[${chunk.index}]` }
  if (isBlank(chunk.hash)) {
    // Nothing says that the content is damaged, so opening goes on with a warning.
    const code = report.strict
      ? { ...codes['defect-zero-hash'], severity: 'warning' as const }
      : codes['defect-zero-hash']
    report.report(code, { ...place, message: `the hash of ${describeChunk(chunk)} was never written (defect D1)` })
  } else {
    const message = `the content of ${describeChunk(chunk)} does not have the hash that the table of contents states`
    report.report(codes['chunk-hash'], { ...place, message })
  }
}
