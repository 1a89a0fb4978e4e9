// Reads one file: the control region, then the metadata chunks, each compared with its hash, then the places of all tensors.
import type { ByteSource } from '../../bytes/index.js'
import type { Report } from '../../errors/index.js'
import { type MetaValue, type Model, type Part, type ReadContext, rangePayload, text } from '../../model/index.js'
import { codes } from './codes.js'
import { type CheckedChunk, type Chunk, type ChunkContent, checkChunks, isCompressed } from './control/chunk.js'
import { type Control, readControl } from './control/control.js'
import { checkRegions, recordRegions } from './control/regions.js'
import { type AeroFile, chunkKind, containerPart, extraPart, indexKind, manifestKind } from './file.js'
import { ContentWindow } from './index/content-window.js'
import { isObject, type JsonObject, type Manifest, parseManifest } from './index/manifest.js'
import { parseMetaJson } from './index/meta-json.js'
import { checkTensors, placeTensors } from './index/place-tensors.js'
import { readDescriptors } from './quant-descriptors.js'
import { type Adoption, adoptTensors } from './set/adopt-tensors.js'

/** `adoption`: what a set says about the tensors of this part; used when it has no index of its own. */
export async function readFile(source: ByteSource, context: ReadContext, adoption?: Adoption): Promise<Model> {
  const { report } = context
  const control = await readControl(source, context)
  checkRegions(control, source, context)
  const chosen = metadataChunks(control, context)
  const contents = await checkChunks(source, chosen, context, (chunk) => isReadInWindows(chunk, source))
  const first = (fourcc: string): ChunkContent | undefined =>
    contents.filter(isWhole).find(({ chunk }) => chunk.fourcc === fourcc)
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
  const index = contents.find(({ chunk }) => chunk.fourcc === 'TIDX')
  const hasIndex = control.chunks.some((chunk) => chunk.fourcc === 'TIDX')
  if (!hasIndex && !adoption) complainNoIndex(control, report)
  const { table, extra } =
    !hasIndex && adoption
      ? { table: adoptTensors(adoption, control, source, context), extra: undefined }
      : await placeTensors(index && windowOf(index, source), control, { metadata, descriptors }, source, context)
  checkTensors(table, context)
  const used = table.usedShards()
  const consumed = new Set([json && metaContent.chunk, manifestContent?.chunk, index?.chunk])
  const file: AeroFile = {
    source,
    control,
    table,
    metadata,
    metaJson: json && metaContent.chunk,
    manifest: manifestContent?.chunk,
    index: index?.chunk,
    checked: new Set(chosen),
    kept: control.chunks.filter((chunk) => isKept(chunk, consumed, used)),
    extras: extraParts(manifest && foreignTo(manifest, metadata), extra),
  }
  recordRegions(file, context)
  return {
    format: 'aero',
    version: '0.1',
    metadata,
    tensors: table.tensors,
    parts: [containerPart(file), ...keptParts(file), ...file.extras],
    files: [source],
  }
}

/** An index that is shorter is read as a whole, together with what lies beside it. */
const longIndex = 8 << 20

/** What comes from afar is better fetched once than compared with its hash first and read again for what it says. */
function isReadInWindows(chunk: Chunk, source: ByteSource): boolean {
  return chunk.fourcc === 'TIDX' && !isCompressed(chunk) && chunk.length > longIndex && source.handle !== undefined
}

const isWhole = (content: CheckedChunk): content is ChunkContent => content.bytes !== undefined

const windowOf = (content: CheckedChunk, source: ByteSource): ContentWindow =>
  isWhole(content) ? ContentWindow.over(content) : ContentWindow.of(content.chunk, source)

function complainNoIndex(control: Control, report: Report): void {
  const message = 'the table of contents lists no TIDX chunk'
  report.report(codes['tidx-missing'], { offset: control.tocOffset, path: 'toc', message })
}

/** Opening needs the first chunk of each kind. Verifying looks at all of them, as far as memory is allowed. */
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

/** Chunks that the document does not define, further copies of those it does, and shards without tensors go along as they are. */
function isKept(
  chunk: Chunk,
  consumed: ReadonlySet<Chunk | undefined>,
  shards: ReadonlySet<Chunk | undefined>,
): boolean {
  if (chunk.fourcc === 'IHSH' || chunk.fourcc === 'PHSH' || consumed.has(chunk)) return false
  return chunk.fourcc !== 'WTSH' || (!shards.has(chunk) && chunk.length > 0)
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
  return [...(manifest ? [extraPart(manifestKind, manifest)] : []), ...(index ? [extraPart(indexKind, index)] : [])]
}

/** What the manifest holds beyond what is written from the model; the types of packed tensors are listed from the tensors again. */
function foreignTo({ extra }: Manifest, metadata: ReadonlyMap<string, MetaValue>): JsonObject | undefined {
  const { quant_descriptors: value, ...rest } = extra ?? {}
  const isDerived = value !== undefined && isGgmlDescriptors({ type: 'json', value })
  if (!isDerived || metadata.has('quant_descriptors')) return extra
  return Object.keys(rest).length > 0 ? rest : undefined
}

/** Metadata is the JSON chunk; name and architecture may stand in the manifest alone. */
function mergeMetadata(
  json: Map<string, MetaValue> | undefined,
  manifest: Manifest | undefined,
): Map<string, MetaValue> {
  const metadata = new Map(json)
  // Written anew from the tensors, unless it holds more than ggml types.
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
