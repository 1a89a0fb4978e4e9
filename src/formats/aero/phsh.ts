// Page hashes (PHSH): for one weight shard, the BLAKE3 digest of each page, so that a part of the shard can be proven without reading the
// rest. The chunk is the MessagePack map {shard_name, page_size, digests} and is found by its name: the shard's, with `.phsh` behind.
import { type Report, TareError } from '../../errors/index.js'
import { decodeMsgpack, type MsgpackNode, MsgpackWriter } from '../../wire/msgpack.js'
import type { Chunk, ChunkContent } from './chunk.js'
import { codes } from './codes.js'
import { placedReport } from './placed-report.js'
import { digestSize } from './structs.js'

export const defaultPageSize = 4 * 2 ** 20

export interface PageTable {
  readonly pageSize: number
  readonly digests: readonly Uint8Array[]
}

export const pageCount = (shardLength: number, pageSize: number): number => Math.ceil(shardLength / pageSize)

/** The table of a shard, or undefined when it is malformed, which is reported. */
export function parsePageTable(content: ChunkContent, shard: Chunk, report: Report): PageTable | undefined {
  const path = `chunks[${content.chunk.index}]`
  const placed = placedReport(report, content.chunk, (code) =>
    code.code.startsWith('msgpack/') ? codes['phsh-msgpack'] : code,
  )
  const complain = (code: keyof typeof codes, field: string, message: string): undefined => {
    placed.report(codes[code], { offset: 0, path: `${path}.${field}`, message })
  }
  let root: MsgpackNode
  try {
    root = decodeMsgpack(content.bytes, placed, { path })
  } catch (error) {
    if (report.strict || !(error instanceof TareError)) throw error
    return undefined
  }
  if (!(root instanceof Map)) return complain('phsh-msgpack', 'root', 'a map was expected')
  const name = root.get('shard_name')
  const pageSize = root.get('page_size')
  const digests = root.get('digests')
  if (name !== shard.name) {
    const message = `the table is for ${JSON.stringify(shard.name)} by its own name, but says ${JSON.stringify(String(name))}`
    complain('phsh-shard-name', 'shard_name', message)
  }
  if (typeof pageSize !== 'number' || !Number.isSafeInteger(pageSize) || pageSize <= 0) {
    return complain('phsh-page-size', 'page_size', `${String(pageSize)} is no page size`)
  }
  if (!Array.isArray(digests)) return complain('phsh-digest-type', 'digests', 'a list was expected')
  const pages = pageCount(shard.length, pageSize)
  if (digests.length === 0 && pages === 0) {
    return complain(
      'defect-empty-pages',
      'digests',
      `${JSON.stringify(shard.name)} is empty and has no pages (defect D5)`,
    )
  }
  if (digests.length !== pages) {
    return complain('phsh-count', 'digests', `${digests.length} digests for ${pages} pages of ${pageSize} bytes`)
  }
  for (const [i, digest] of digests.entries()) {
    if (digest instanceof Uint8Array && digest.byteLength === digestSize) continue
    return complain('phsh-digest-type', `digests[${i}]`, `a byte string of ${digestSize} bytes was expected`)
  }
  return { pageSize, digests: digests as Uint8Array[] }
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

/** Bytes of a table, which follow from the number of pages alone. */
export function pageTableSize(shardName: string, pageSize: number, pages: number): number {
  const list = encodePageTable(shardName, pageSize, []).byteLength - 1
  return list + (pages < 16 ? 1 : pages < 65_536 ? 3 : 5) + pages * (digestSize + 2)
}
