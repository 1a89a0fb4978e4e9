// One chunk: its entry in the table of contents, and its content once that was read, decompressed and compared with its hash.
import type { ByteSource } from '../../../bytes/index.js'
import { digestOf } from '../../../digest/index.js'
import type { Code, Details, Report } from '../../../errors/index.js'
import type { ReadContext } from '../../../model/index.js'
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
  /** Bytes after decompression. */
  readonly ulen: number
  readonly hash: Uint8Array
}

export interface ChunkContent {
  readonly chunk: Chunk
  readonly bytes: Uint8Array
}

export const endOf = ({ offset, length }: Pick<Chunk, 'offset' | 'length'>): number => offset + length
export const isCompressed = (chunk: Pick<Chunk, 'flags'>): boolean => hasFlag(chunk.flags, flags.zstd)
export const isBlank = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0)
export const entryPath = (index: number): string => `toc.entries[${index}]`

/** How messages name a chunk. Names come from the file, so they are quoted. */
export const describeChunk = (chunk: Pick<Chunk, 'fourcc' | 'name'>): string =>
  `${/^[\x21-\x7e]{4}$/.test(chunk.fourcc) ? chunk.fourcc : JSON.stringify(chunk.fourcc)} ${JSON.stringify(chunk.name)}`

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.byteLength !== b.byteLength) return false
  for (let i = 0; i < a.byteLength; i++) if (a[i] !== b[i]) return false
  return true
}

/**
 * A report for a parser whose offsets count from the start of a chunk's content. These are places in the file only when the chunk is stored
 * uncompressed; otherwise findings point at the chunk, and the message says where in the content. `msgpack` is the code for everything that
 * is wrong with the MessagePack itself.
 */
export function placedReport(report: Report, chunk: Chunk, msgpack?: Code): Report {
  const rename = (code: Code): Code => (msgpack && code.code.startsWith('msgpack/') ? msgpack : code)
  const place = (details: Details): Details => {
    const at = details.offset ?? 0
    const message = `${describeChunk(chunk)}: ${details.message}`
    if (!isCompressed(chunk)) return { ...details, message, offset: chunk.offset + at }
    const { length: _length, ...rest } = details
    return { ...rest, message: `${message} (byte ${at} of the decompressed chunk)`, offset: chunk.offset }
  }
  return {
    file: report.file,
    strict: report.strict,
    report: (code, details) => report.report(rename(code), place(details)),
    fail: (code, details): never => report.fail(rename(code), place(details)),
    forFile: (file) => report.forFile(file),
  }
}

/** The content of metadata chunks, in their order. Those that cannot be read are reported and left out. */
export async function readChunks(
  source: ByteSource,
  chunks: readonly Chunk[],
  context: ReadContext,
): Promise<ChunkContent[]> {
  const affordable = chunks.filter((chunk) => isAffordable(chunk, context))
  const stored = await fetchStored(source, affordable, context)
  const contents: ChunkContent[] = []
  for (const chunk of affordable) {
    const bytes = await decompress(chunk, stored.get(chunk)!, context)
    if (!bytes) continue
    if (!sameBytes(await digestOf('blake3', bytes), chunk.hash)) complainHash(chunk, context)
    contents.push({ chunk, bytes })
  }
  return contents
}

/** Beyond this size, a chunk that decompresses to more than `maxRatio` times its stored size is taken for a bomb. */
const alwaysAllowed = 64 * 2 ** 20
const maxRatio = 1000

function isAffordable(chunk: Chunk, { report, limits }: ReadContext): boolean {
  const limit = Math.min(maxMetadata, limits.indexBytes)
  const size = Math.max(chunk.length, isCompressed(chunk) ? chunk.ulen : 0)
  const isBomb = size > alwaysAllowed && size > maxRatio * chunk.length
  if (size <= limit && !isBomb) return true
  const field = chunk.length > limit ? 'chunk_length' : 'chunk_ulen'
  const why = isBomb ? `far too much for ${chunk.length} stored bytes` : `the limit is ${limit}`
  const message = `${describeChunk(chunk)} would take ${size} bytes of memory, ${why}`
  report.report(codes['chunk-meta-cap'], { offset: chunk.offset, path: `${entryPath(chunk.index)}.${field}`, message })
  return false
}

/** Chunks that lie this close together are fetched in one read: over a network, the number of requests is what costs. */
const fetchGap = 65_536

async function fetchStored(
  source: ByteSource,
  chunks: readonly Chunk[],
  { signal }: ReadContext,
): Promise<Map<Chunk, Uint8Array>> {
  const stored = new Map<Chunk, Uint8Array>()
  const groups: { start: number; end: number; chunks: Chunk[] }[] = []
  for (const chunk of chunks.toSorted((a, b) => a.offset - b.offset)) {
    const group = groups.at(-1)
    if (group && chunk.offset <= group.end + fetchGap) {
      group.chunks.push(chunk)
      group.end = Math.max(group.end, endOf(chunk))
    } else groups.push({ start: chunk.offset, end: endOf(chunk), chunks: [chunk] })
  }
  for (const group of groups) {
    const bytes = await source.read(group.start, group.end - group.start, { signal })
    for (const chunk of group.chunks)
      stored.set(chunk, bytes.subarray(chunk.offset - group.start, endOf(chunk) - group.start))
  }
  return stored
}

async function decompress(chunk: Chunk, stored: Uint8Array, { report }: ReadContext): Promise<Uint8Array | undefined> {
  if (!isCompressed(chunk)) return stored
  const content = await decodeZstd(stored, chunk.ulen)
  if (!isZstdFault(content)) return content
  const code: Code = {
    corrupt: codes['chunk-zstd'],
    size: codes['chunk-ulen'],
    trailing: codes['chunk-zstd-trailing'],
    unavailable: zstdCodes.unavailable,
  }[content.fault]
  // Where bytes are missing, `at` is behind the last byte; the finding is about the chunk, so its offset stays inside.
  const offset = chunk.offset + Math.max(0, Math.min(content.at, chunk.length - 1))
  report.report(code, {
    offset,
    path: `chunks[${chunk.index}]`,
    message: `${describeChunk(chunk)}: ${content.message}`,
  })
  return undefined
}

export function complainHash(chunk: Chunk, { report }: Pick<ReadContext, 'report'>): void {
  const place = { offset: chunk.offset, length: chunk.length, path: `chunks[${chunk.index}]` }
  if (isBlank(chunk.hash)) {
    // Nothing says that the content is damaged, so a strict reader goes on with a warning.
    const code = report.strict
      ? { ...codes['defect-zero-hash'], severity: 'warning' as const }
      : codes['defect-zero-hash']
    report.report(code, { ...place, message: `the hash of ${describeChunk(chunk)} was never written (defect D1)` })
  } else {
    const message = `the content of ${describeChunk(chunk)} does not have the hash that the table of contents states`
    report.report(codes['chunk-hash'], { ...place, message })
  }
}
