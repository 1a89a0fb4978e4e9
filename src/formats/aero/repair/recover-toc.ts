// Finds the chunks of a file whose table of contents was overwritten with zeros (defect D4). They still lie one after another on
// multiples of 16, and tell what they are: JSON starts with a brace, compressed metadata is a zstd frame that knows its length, and
// the tensor index says how long the weight shards are.
import { alignUp, type ByteSource, Cursor } from '../../../bytes/index.js'
import { strictReport, TareError } from '../../../errors/index.js'
import type { JsonValue, ReadContext } from '../../../model/index.js'
import { MsgpackReader } from '../../../wire/msgpack/index.js'
import { decodeZstd, isZstdFault, parseZstdFrame } from '../../../wire/zstd/zstd.js'
import { codes } from '../codes.js'
import type { Chunk } from '../control/chunk.js'
import { isObject } from '../file.js'
import { readTagged } from '../index/tagged.js'
import { type IndexEntry, parseIndex } from '../index/tidx.js'
import { chunkAlignment, flags, fourccText, header, shardName, tocEntry, tocHeader } from '../structs.js'

export interface Recovered {
  readonly uuid: Uint8Array
  /** The control hash as it is stored. */
  readonly controlHash: Uint8Array
  /** What was found behind it; the hashes are unknown. */
  readonly chunks: readonly Chunk[]
}

/** The maximum size of one metadata chunk here. */
const maxMetadata = 64 * 2 ** 20
const report = strictReport('')
const wrong = codes['tidx-type']

export async function recoverToc(source: ByteSource, { signal }: ReadContext): Promise<Recovered | undefined> {
  const head = header.size + tocHeader.size + tocEntry.size
  if (source.size < head) return undefined
  const cursor = new Cursor(await source.read(0, head, { signal }), report)
  const { uuid, tocOffset } = header.read(cursor)
  const { entryCount } = tocHeader.read(cursor)
  const first = tocEntry.read(cursor)
  const start = Number(first.chunkOffset)
  const length = Number(first.chunkLength)
  if (tocOffset !== BigInt(header.size) || fourccText(first.fourcc) !== 'IHSH') return undefined
  if (start + length > source.size || length > maxMetadata) return undefined
  const chunks = await scan(source, start + length, entryCount - 1, signal)
  if (!chunks) return undefined
  return { uuid: uuid.slice(), controlHash: (await source.read(start, length, { signal })).slice(), chunks }
}

async function scan(
  source: ByteSource,
  from: number,
  count: number,
  signal: AbortSignal | undefined,
): Promise<Chunk[] | undefined> {
  const chunks: Chunk[] = []
  let shards: ReadonlyMap<number, number> | undefined
  let at = alignUp(from, chunkAlignment)
  while (chunks.length < count && at < source.size) {
    const bytes = await source.read(at, Math.min(source.size - at, maxMetadata), { signal })
    const found = await identify(bytes)
    // The writer refuses a second chunk of a kind, since it would have the same name. Weights can look like anything.
    if (!found || chunks.some(({ fourcc }) => fourcc === found.fourcc)) break
    const chunk = makeChunk(chunks.length, found, at)
    chunks.push(chunk)
    if (found.fourcc === 'TIDX') shards ??= shardSizes(chunk, found.content)
    at = alignUp(at + found.length, chunkAlignment)
  }
  // The rest must be exactly the shards that the index names.
  if (!shards || chunks.length + shards.size !== count) return undefined
  for (const [id, length] of [...shards].sort(([a], [b]) => a - b)) {
    if (at + length > source.size) return undefined
    const kind = { fourcc: 'WTSH', name: shardName(id), flags: flags.mmapCritical, length, ulen: length }
    chunks.push(makeChunk(chunks.length, kind, at))
    at = alignUp(at + length, chunkAlignment)
  }
  return chunks
}

type Kind = Pick<Chunk, 'fourcc' | 'name' | 'flags' | 'length' | 'ulen'>

const makeChunk = (index: number, { fourcc, name, flags: chunkFlags, length, ulen }: Kind, offset: number): Chunk => ({
  index: index + 1,
  fourcc,
  name,
  flags: chunkFlags,
  offset,
  length,
  ulen,
  hash: new Uint8Array(32),
})

async function identify(bytes: Uint8Array): Promise<(Kind & { content: Uint8Array }) | undefined> {
  if (bytes[0] === 0x7b) {
    const length = jsonLength(bytes)
    if (length === undefined) return undefined
    return { fourcc: 'MJSN', name: 'meta.json', flags: 0, length, ulen: length, content: bytes }
  }
  const frame = parseZstdFrame(bytes)
  if (isZstdFault(frame)) return identifyMap(bytes, 0)
  if (frame.contentSize === undefined || frame.contentSize > maxMetadata) return undefined
  const content = await decodeZstd(bytes.subarray(0, frame.byteLength), frame.contentSize)
  if (isZstdFault(content)) return undefined
  const kind = identifyMap(content, flags.zstd)
  return kind && { ...kind, length: frame.byteLength, ulen: content.byteLength }
}

function identifyMap(content: Uint8Array, zstd: number): (Kind & { content: Uint8Array }) | undefined {
  const reader = new MsgpackReader(content, report)
  let root: JsonValue
  try {
    root = readTagged(reader, { keyType: wrong, utf8: wrong, msgpack: wrong, values: 1_000_000 })
  } catch (error) {
    if (error instanceof TareError) return undefined
    throw error
  }
  // No writer makes a frame that holds more than the map.
  if (!isObject(root) || (zstd > 0 && reader.remaining > 0)) return undefined
  const length = reader.position
  const own = content.subarray(0, length)
  if ('tensors' in root) {
    return { fourcc: 'TIDX', name: 'tensors', flags: flags.index + zstd, length, ulen: length, content: own }
  }
  if (!('format' in root) && !('model' in root)) return undefined
  return { fourcc: 'MMSG', name: 'manifest', flags: zstd, length, ulen: length, content: own }
}

/** The length of the object at the beginning, by its braces. */
function jsonLength(bytes: Uint8Array): number | undefined {
  let depth = 0
  let inString = false
  for (let i = 0; i < bytes.byteLength; i++) {
    const byte = bytes[i]
    if (inString) {
      if (byte === 0x5c) i++
      else if (byte === 0x22) inString = false
    } else if (byte === 0x22) inString = true
    else if (byte === 0x7b) depth++
    else if (byte === 0x7d && --depth === 0) return i + 1
  }
  return undefined
}

function shardSizes(chunk: Chunk, bytes: Uint8Array): Map<number, number> | undefined {
  const sizes = new Map<number, number>()
  const names = new Set<string>()
  let count = 0
  try {
    const visit = ({ name, shardId, dataOff, dataLen }: IndexEntry): void => {
      names.add(name)
      count++
      sizes.set(shardId, Math.max(sizes.get(shardId) ?? 0, Number(dataOff) + Number(dataLen)))
    }
    parseIndex({ chunk, bytes }, report, visit)
  } catch (error) {
    if (error instanceof TareError) return undefined
    throw error
  }
  return names.size === count ? sizes : undefined
}
