// The manifest (MMSG): a MessagePack map with the model's name and architecture, and a second list of chunks and shards that no reader
// relies on. Only the model is taken from it; a list that contradicts the table of contents is worth a warning; keys that the document
// does not define are carried along.
import type { GgmlType } from '../../../dtypes/ggml/types.js'
import { type Report, TareError } from '../../../errors/index.js'
import type { JsonValue, ModelNames } from '../../../model/index.js'
import { MsgpackReader } from '../../../wire/msgpack/index.js'
import { codes } from '../codes.js'
import { type Chunk, type ChunkContent, placedReport } from '../control/chunk.js'
import { type Descriptors, typeOfParams } from '../dtypes.js'
import { isObject, type JsonObject } from '../file.js'
import { encodeTagged, maxValues, readTagged } from './tagged.js'

export interface Manifest {
  readonly name: string | undefined
  readonly architecture: string | undefined
  /** What the document does not define, by key; undefined when there is nothing. */
  readonly extra: JsonObject | undefined
}

const own = codes['mmsg-msgpack']

export function parseManifest(content: ChunkContent, chunks: readonly Chunk[], report: Report): Manifest | undefined {
  const placed = placedReport(report, content.chunk, own)
  const reader = new MsgpackReader(content.bytes, placed, { where: () => 'manifest' })
  let root: JsonValue
  try {
    if (reader.next() !== 'map') placed.fail(own, { offset: 0, path: 'manifest', message: 'a map was expected' })
    reader.position = 0
    root = readTagged(reader, { keyType: own, utf8: own, msgpack: own, values: maxValues(content.chunk.length) })
    if (reader.remaining > 0) {
      const message = `${reader.remaining} bytes follow the map`
      placed.fail(own, { offset: reader.offset, path: 'manifest', message })
    }
  } catch (error) {
    // The weights can be read without a manifest.
    if (report.strict || !(error instanceof TareError)) throw error
    return undefined
  }
  const object = membersOf(root, 'manifest', placed) ?? {}
  checkTables(object, chunks, placed)
  const model = membersOf(object.model, 'manifest.model', placed)
  const { name, architecture, ...modelRest } = model ?? {}
  const { format: _format, model: _model, chunks: _chunks, shards: _shards, ...rest } = object
  const extra: Record<string, JsonValue> = Object.assign(Object.create(null), rest)
  if (Object.keys(modelRest).length > 0) extra.model = Object.assign(Object.create(null), modelRest)
  return {
    name: typeof name === 'string' && name !== '' ? name : undefined,
    architecture: typeof architecture === 'string' && architecture !== '' ? architecture : undefined,
    extra: Object.keys(extra).length > 0 ? extra : undefined,
  }
}

/** The members of a map, also of one that is stored as a list of pairs; undefined for anything else. */
function membersOf(value: JsonValue | undefined, path: string, report: Report): JsonObject | undefined {
  if (!isObject(value)) return undefined
  const [tag = '', ...others] = Object.keys(value)
  if (others.length > 0 || !tag.startsWith('$')) return value
  if (tag !== '$map') return undefined
  const members = Object.create(null) as Record<string, JsonValue>
  for (const [key, member] of value[tag] as unknown as readonly (readonly [string, JsonValue])[]) {
    if (key in members) {
      report.report(codes['key-twice'], { offset: 0, path, message: `${JSON.stringify(key)} occurs twice` })
    }
    members[key] = member
  }
  return members
}

function checkTables(root: JsonObject, chunks: readonly Chunk[], report: Report): void {
  const byIndex = new Map(chunks.map((chunk) => [chunk.index, chunk]))
  const rows = (key: string): JsonObject[] => (Array.isArray(root[key]) ? root[key].filter(isObject) : [])
  for (const [i, row] of rows('chunks').entries()) {
    if (typeof row.toc_index !== 'number' || byIndex.get(row.toc_index)?.fourcc === row.fourcc) continue
    const message = `entry ${row.toc_index} of the table of contents is no ${JSON.stringify(row.fourcc)}`
    report.report(codes['mmsg-contradicts'], { offset: 0, path: `manifest.chunks[${i}].toc_index`, message })
    return // one wrong number shifts all that follow, as a rule
  }
  for (const [i, row] of rows('shards').entries()) {
    if (typeof row.toc_index !== 'number') continue
    const chunk = byIndex.get(row.toc_index)
    const isRight = chunk?.fourcc === 'WTSH' && (row.size_bytes === undefined || row.size_bytes === chunk.length)
    if (isRight) continue
    const message = `the table of contents has no shard of ${String(row.size_bytes)} bytes at ${row.toc_index}`
    report.report(codes['mmsg-contradicts'], { offset: 0, path: `manifest.shards[${i}]`, message })
  }
}

export interface ManifestChunk {
  readonly role: string
  readonly fourcc: string
  readonly shardId?: number
}

export interface ManifestShard {
  readonly id: number
  readonly tocIndex: number
  readonly size: number
  readonly tensorCount: number
}

export function encodeManifest(
  names: ModelNames,
  extra: JsonObject | undefined,
  chunks: readonly ManifestChunk[],
  shards: readonly ManifestShard[],
): Uint8Array {
  const { model, ...rest } = extra ?? {}
  return encodeTagged({
    format: { name: 'AERO', version: [0, 1] },
    model: Object.assign(Object.create(null), names, isObject(model) ? model : {}),
    chunks: chunks.map(({ role, fourcc, shardId }, index) => ({
      role,
      fourcc,
      toc_index: index,
      ...(shardId !== undefined && { shard_id: shardId }),
    })),
    shards: shards.map((shard) => ({
      shard_id: shard.id,
      toc_index: shard.tocIndex,
      size_bytes: shard.size,
      tensor_count: shard.tensorCount,
      mmap_critical: true,
    })),
    ...rest,
  })
}

/**
 * A list of {id, quant_name, codec, params} says which types of packed data a file has. The document puts it into the manifest, the reference
 * writes it into the JSON metadata, so both are looked at, and the first list that describes an id counts.
 */
export function readDescriptors(lists: readonly (JsonValue | undefined)[]): Descriptors {
  const types = new Map<number, GgmlType>()
  for (const list of lists) {
    const seen = new Set<number>()
    for (const [i, row] of (Array.isArray(list) ? (list as readonly JsonValue[]) : []).entries()) {
      if (!isObject(row)) continue
      const id = typeof row.id === 'number' ? row.id : i
      if (seen.has(id)) continue
      seen.add(id)
      const type = row.codec === 'ggml' ? typeOfParams(row.params) : undefined
      if (type && !types.has(id)) types.set(id, type)
    }
  }
  return types
}
