// Reads one file: the control region, then the metadata chunks, each compared with its hash, then the places of all tensors.
import { type ByteSource, toHex } from '../../bytes/index.js'
import { type JsonValue, type MetaValue, type Part, type ReadContext, rangePayload, text } from '../../model/index.js'
import { codes } from './codes.js'
import { type Chunk, readChunks } from './control/chunk.js'
import { type Control, readControl, shardsOf } from './control/control.js'
import { checkRegions, recordRegions } from './control/regions.js'
import {
  type AeroFile,
  chunkKind,
  containerKind,
  indexKind,
  isObject,
  type JsonObject,
  manifestKind,
  type OpenFile,
  type TensorEntry,
} from './file.js'
import { type Manifest, parseManifest, readDescriptors } from './index/manifest.js'
import { parseMetaJson } from './index/meta-json.js'
import { type PlacedTensors, placeTensors, reportShared } from './index/place-tensors.js'
import { pagesName } from './structs.js'

/** Finds the tensors of a part of a set that has no index of its own. */
export type Adopt = (control: Control, source: ByteSource, context: ReadContext) => PlacedTensors

export async function readFile(source: ByteSource, context: ReadContext, adopt?: Adopt): Promise<OpenFile> {
  const { report } = context
  const control = await readControl(source, context)
  checkRegions(control, source, context)

  const chosen = metadataChunks(control, context)
  const contents = await readChunks(source, chosen, context)
  const first = (fourcc: string) => contents.find(({ chunk }) => chunk.fourcc === fourcc)
  const metaContent = first('MJSN')
  const json = metaContent && parseMetaJson(metaContent, report)
  const manifestContent = first('MMSG')
  const manifest = manifestContent && parseManifest(manifestContent, control.chunks, report)
  const metadata = mergeMetadata(json, manifest)

  const listed = json?.get('quant_descriptors')
  const descriptors = readDescriptors([
    manifest?.extra?.quant_descriptors,
    listed?.type === 'json' ? listed.value : undefined,
  ])
  const index = first('TIDX')
  const hasIndex = control.chunks.some((chunk) => chunk.fourcc === 'TIDX')
  if (!hasIndex && !adopt) {
    const message = 'the table of contents lists no TIDX chunk'
    report.report(codes['tidx-missing'], { offset: control.tocOffset, path: 'toc', message })
  }
  const placed: PlacedTensors = index
    ? placeTensors(index, control, { metadata, descriptors }, source, context)
    : !hasIndex && adopt
      ? adopt(control, source, context)
      : { entries: [] }
  const { entries } = placed
  const isGlobalIndex = !control.chunks.some((chunk) => chunk.fourcc === 'WTSH')
  if (!isGlobalIndex) reportShared(entries, context)

  const shards = new Set<Chunk | undefined>()
  for (const { shard } of entries) shards.add(shard)
  const consumed = new Set([json && metaContent.chunk, manifestContent?.chunk, index?.chunk])
  const file: AeroFile = {
    source,
    control,
    entries,
    tensors: entries.map(({ tensor }) => tensor),
    entryOf: findByName(entries),
    metadata,
    metaJson: json && metaContent.chunk,
    manifest: manifestContent?.chunk,
    index: index?.chunk,
    controlHash: control.chunks.find((chunk) => chunk.fourcc === 'IHSH'),
    pageTables: pageTablesOf(control),
    loadedPages: new Map(),
    checked: new Set(chosen),
    kept: control.chunks.filter((chunk) => isKept(chunk, consumed, shards)),
    extras: extraParts(manifest && foreignTo(manifest, metadata), placed.extra),
  }
  recordRegions(control, entries, context)
  const parts = [containerPart(file), ...keptParts(file), ...file.extras]
  return { model: { format: 'aero', version: '0.1', metadata, tensors: file.tensors, parts, files: [source] }, file }
}

/** Opening needs the first chunk of each kind. Verifying looks at all of them, as far as the memory limit allows. */
function metadataChunks(control: Control, { report, limits }: ReadContext): Chunk[] {
  const chosen: Chunk[] = []
  const seen = new Set<string>()
  let left = limits.indexBytes
  for (const chunk of control.chunks) {
    if (!['MJSN', 'MMSG', 'TIDX'].includes(chunk.fourcc)) continue
    const isFirst = !seen.has(chunk.fourcc)
    seen.add(chunk.fourcc)
    const size = Math.max(chunk.length, chunk.ulen)
    if (!isFirst && (report.strict || size > left)) continue
    left -= size
    chosen.push(chunk)
  }
  return chosen
}

/** Metadata is the JSON chunk; name and architecture may stand in the manifest alone. */
function mergeMetadata(
  json: Map<string, MetaValue> | undefined,
  manifest: Manifest | undefined,
): Map<string, MetaValue> {
  const metadata = new Map(json)
  // Writers make the list again from the tensors, unless it holds more than ggml types.
  if (isGgmlDescriptors(metadata.get('quant_descriptors'))) metadata.delete('quant_descriptors')
  for (const [key, value] of [
    ['model_name', manifest?.name],
    ['architecture', manifest?.architecture],
  ] as const) {
    if (value !== undefined && !metadata.has(key)) metadata.set(key, text(value))
  }
  return metadata
}

function isGgmlDescriptors(value: MetaValue | undefined): boolean {
  if (value?.type !== 'json' || !Array.isArray(value.value)) return false
  return value.value.every((row) => isObject(row) && row.codec === 'ggml' && typeof row.id === 'number')
}

/** What the manifest holds beyond what is written from the model; the types of packed tensors are listed from the tensors again. */
function foreignTo({ extra }: Manifest, metadata: ReadonlyMap<string, MetaValue>): JsonObject | undefined {
  const { quant_descriptors: value, ...rest } = extra ?? {}
  const isDerived = value !== undefined && isGgmlDescriptors({ type: 'json', value })
  if (!isDerived || metadata.has('quant_descriptors')) return extra
  return Object.keys(rest).length > 0 ? rest : undefined
}

function findByName(entries: readonly TensorEntry[]): AeroFile['entryOf'] {
  let byName: Map<string, TensorEntry> | undefined
  return (name) => {
    byName ??= new Map(entries.map((entry) => [entry.tensor.name, entry]))
    return byName.get(name)
  }
}

/** A page table belongs to the shard that it is named after; the first of a name counts. */
function pageTablesOf(control: Control): Map<Chunk, Chunk> {
  const byName = new Map<string, Chunk>()
  for (const chunk of control.chunks) {
    if (chunk.fourcc === 'PHSH' && !byName.has(chunk.name)) byName.set(chunk.name, chunk)
  }
  const tables = new Map<Chunk, Chunk>()
  for (const shard of shardsOf(control).values()) {
    const table = byName.get(pagesName(shard.name))
    if (table) tables.set(shard, table)
  }
  return tables
}

/** Chunks that the document does not define, further copies of those it does, and shards without tensors are kept as they are. */
function isKept(
  chunk: Chunk,
  consumed: ReadonlySet<Chunk | undefined>,
  shards: ReadonlySet<Chunk | undefined>,
): boolean {
  if (chunk.fourcc === 'IHSH' || chunk.fourcc === 'PHSH' || consumed.has(chunk)) return false
  return chunk.fourcc !== 'WTSH' || (!shards.has(chunk) && chunk.length > 0)
}

const maxShown = 256

function containerPart(file: AeroFile): Part {
  const { control } = file
  const shown = control.chunks
    .slice(0, maxShown)
    .map(({ fourcc, name, flags, offset, length, ulen }): JsonValue => ({ fourcc, name, flags, offset, length, ulen }))
  return {
    kind: containerKind,
    sharing: 'derived',
    value: { uuid: toHex(control.uuid), chunk_count: control.entryCount, chunks: shown },
    content: file,
  }
}

function keptParts({ kept, source }: AeroFile): Part[] {
  return kept.map((chunk) => ({
    kind: chunkKind,
    sharing: 'private',
    name: chunk.name,
    value: { fourcc: chunk.fourcc, flags: chunk.flags, length: chunk.length, ulen: chunk.ulen },
    data: rangePayload(source, chunk.offset, chunk.length),
    content: chunk,
  }))
}

function extraParts(manifest: JsonObject | undefined, index: JsonObject | undefined): Part[] {
  const parts: Part[] = []
  if (manifest) parts.push({ kind: manifestKind, sharing: 'private', value: manifest })
  if (index) parts.push({ kind: indexKind, sharing: 'private', value: index })
  return parts
}
