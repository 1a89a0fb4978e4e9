// Page hashes (PHSH): the BLAKE3 digest of each page of a weight shard, so that a part of the shard can be proven without reading the
// rest. The chunk is the MessagePack map {shard_name, page_size, digests}; its name is that of the shard, followed by `.phsh`.
import type { ByteSource } from '../../../bytes/index.js'
import { type Report, strictReport, TareError } from '../../../errors/index.js'
import { defaultLimits, type JsonValue } from '../../../model/index.js'
import { MsgpackReader, MsgpackWriter } from '../../../wire/msgpack/index.js'
import { codes } from '../codes.js'
import { type Chunk, type ChunkContent, placedReport, readChunks } from '../control/chunk.js'
import type { AeroFile, PageTable } from '../file.js'
import { readKey, readTagged, type TaggedContext } from '../index/tagged.js'
import { digestSize } from '../structs.js'

export const defaultPageSize = 4 * 2 ** 20

export const pageCount = (shardLength: number, pageSize: number): number => Math.ceil(shardLength / pageSize)

/** The table of a shard for verified reads, compared with its own hash; fetched once. */
export function loadPageTable(
  { source, loadedPages }: AeroFile,
  shard: Chunk,
  chunk: Chunk,
  signal: AbortSignal | undefined,
): Promise<PageTable | undefined> {
  const known = loadedPages.get(chunk)
  if (known) return known
  const loading = readPageTable(source, shard, chunk, signal)
  loadedPages.set(chunk, loading)
  loading.catch(() => loadedPages.delete(chunk))
  return loading
}

/** An empty shard needs no table. */
async function readPageTable(
  source: ByteSource,
  shard: Chunk,
  chunk: Chunk,
  signal: AbortSignal | undefined,
): Promise<PageTable | undefined> {
  if (shard.length === 0) return undefined
  const report = strictReport(source.name)
  const [content] = await readChunks(source, [chunk], { report, limits: defaultLimits, lenient: false, signal })
  return content && parsePageTable(content, shard, report)
}

const own = codes['phsh-msgpack']

/** The table of a shard, or undefined when it is malformed, which is reported. */
export function parsePageTable(content: ChunkContent, shard: Chunk, report: Report): PageTable | undefined {
  const path = `chunks[${content.chunk.index}]`
  const placed = placedReport(report, content.chunk, own)
  const complain = (code: keyof typeof codes, field: string, message: string): undefined => {
    placed.report(codes[code], { offset: 0, path: `${path}.${field}`, message })
  }
  const reader = new MsgpackReader(content.bytes, placed, { where: () => path })
  let fields: PageFields | undefined
  try {
    fields = readFields(reader)
  } catch (error) {
    if (report.strict || !(error instanceof TareError)) throw error
    return undefined
  }
  const { shardName, pageSize, digests } = fields
  if (shardName !== shard.name) {
    const message = `the table is for ${JSON.stringify(shard.name)} by its own name, but says ${JSON.stringify(shardName)}`
    complain('phsh-shard-name', 'shard_name', message)
  }
  if (typeof pageSize !== 'number' || !Number.isSafeInteger(pageSize) || pageSize <= 0) {
    return complain('phsh-page-size', 'page_size', `${JSON.stringify(pageSize)} is not a page size`)
  }
  if (!digests)
    return complain('phsh-digest-type', 'digests', `a list of byte strings of ${digestSize} bytes was expected`)
  const pages = pageCount(shard.length, pageSize)
  if (digests.length === 0 && pages === 0) {
    const message = `${JSON.stringify(shard.name)} is empty and has no pages (defect D5)`
    return complain('defect-empty-pages', 'digests', message)
  }
  if (digests.length !== pages) {
    return complain('phsh-count', 'digests', `${digests.length} digests for ${pages} pages of ${pageSize} bytes`)
  }
  return { pageSize, digests }
}

interface PageFields {
  readonly shardName: JsonValue
  readonly pageSize: JsonValue
  /** Undefined when it is anything but a list of digests. */
  readonly digests: readonly Uint8Array[] | undefined
}

function readFields(reader: MsgpackReader): PageFields {
  const context = { keyType: own, utf8: own, msgpack: own, values: 1000 }
  const fail = (offset: number, message: string): never =>
    reader.report.fail(own, { offset, path: reader.where(), message })
  const start = reader.offset
  if (reader.next() !== 'map') fail(start, 'a map was expected')
  const values = new Map<string, JsonValue>()
  let digests: Uint8Array[] | undefined
  for (let left = reader.length; left > 0; left--) {
    const key = readKey(reader, context)
    if (key === 'digests') digests = readDigests(reader, context)
    else values.set(key, readTagged(reader, context))
  }
  if (reader.remaining > 0) fail(reader.offset, `${reader.remaining} bytes follow the map`)
  return { shardName: values.get('shard_name') ?? null, pageSize: values.get('page_size') ?? null, digests }
}

/** A digest takes 34 bytes, so the length of the list is judged before anything is kept. */
function readDigests(reader: MsgpackReader, context: TaggedContext): Uint8Array[] | undefined {
  const start = reader.position
  if (reader.next() !== 'array' || reader.length * (digestSize + 2) > reader.remaining) {
    reader.position = start
    readTagged(reader, context)
    return undefined
  }
  const digests: Uint8Array[] = []
  let isProper = true
  for (let left = reader.length; left > 0; left--) {
    const at = reader.position
    if (reader.next() === 'bin' && reader.length === digestSize) digests.push(reader.take(digestSize))
    else {
      reader.position = at
      readTagged(reader, context)
      isProper = false
    }
  }
  return isProper ? digests : undefined
}

export function encodePageTable(shardName: string, pageSize: number, digests: readonly Uint8Array[]): Uint8Array {
  const writer = new MsgpackWriter()
  writer.mapHeader(3)
  writer.str('shard_name')
  writer.str(shardName)
  writer.str('page_size')
  writer.int(pageSize)
  writer.str('digests')
  writer.arrayHeader(digests.length)
  for (const digest of digests) writer.bin(digest)
  return writer.finish()
}

/** The size of a table, which depends on the number of pages alone. */
export function pageTableSize(shardName: string, pageSize: number, pages: number): number {
  const list = encodePageTable(shardName, pageSize, []).byteLength - 1
  return list + (pages < 16 ? 1 : pages < 65_536 ? 3 : 5) + pages * (digestSize + 2)
}
