// The content of a new file: JSON metadata, manifest, tensor index, weight shards with their page tables, and chunks that came along, in
// the order of the reference writer.
import type { FileLayout, JsonValue, Model, ModelNames, Part } from '../../../model/index.js'
import type { Chunk } from '../control/chunk.js'
import { chunkKind, indexKind, isObject, type JsonObject, manifestKind } from '../file.js'
import { encodeManifest, type ManifestChunk, type ManifestShard } from '../index/manifest.js'
import { encodeMetaJson } from '../index/meta-json.js'
import { flags } from '../structs.js'
import { buildFile } from './build-file.js'
import { withNames } from './names.js'
import type { Choices } from './options.js'
import { compressedChunk, type OutChunk, pagesChunk, payloadChunk, plainChunk, shardChunk } from './out-chunk.js'
import type { ShardContent } from './shards.js'
import { encodeIndex, type IndexPlan, indexPayload, indexWith, planQuants, type QuantTable } from './write-tidx.js'

export interface ContentPlan {
  readonly name: string
  readonly names: ModelNames
  readonly quants: QuantTable
  /** The tensors of the index. */
  readonly tensors: IndexPlan['tensors']
  /** The shards that they are in. */
  readonly shards: readonly ShardContent[]
  /** The shards that this file holds; none in the global index of a set. */
  readonly stored: readonly ShardContent[]
  readonly kept: readonly OutChunk[]
  /** Every byte must be known before it is written. */
  readonly hashFirst: boolean
}

export async function layoutContent(model: Model, plan: ContentPlan, choices: Choices): Promise<FileLayout> {
  const { name, names, kept, quants, tensors, shards, hashFirst } = plan
  const { uuid, controlHash, pageSize, alignment, tensorHashes } = choices
  // Where the weights are read before they are written, index and page tables can lie before them, where readers find them sooner.
  const isKnownFirst = hashFirst || uuid === undefined
  const rows: ManifestChunk[] = [
    ...(controlHash ? [controlRow] : []),
    { role: 'json', fourcc: 'MJSN' },
    { role: 'manifest', fourcc: 'MMSG' },
    { role: 'tensors', fourcc: 'TIDX' },
  ]
  const shardRows: ManifestShard[] = []
  const weights: OutChunk[] = []
  for (const shard of plan.stored) {
    const { id, size, tensorCount } = shard.plan
    shardRows.push({ id, tocIndex: rows.length, size, tensorCount })
    rows.push({ role: 'weights', fourcc: 'WTSH', shardId: id })
    weights.push(shardChunk(shard, alignment))
    // The reference refuses a page table without pages.
    if (pageSize === undefined || size === 0) continue
    rows.push({ role: 'page_hashes', fourcc: 'PHSH', shardId: id })
    weights.push(pagesChunk(shard, pageSize, isKnownFirst ? 'front' : 'weights'))
  }
  for (const { fourcc } of kept) rows.push({ role: roleOf(fourcc), fourcc })
  const extra = extraOf(model.parts, indexKind)
  const index = await indexChunk({ tensors, shards, quants, withHashes: tensorHashes, extra }, choices, isKnownFirst)
  const metadata = [
    await metaChunk(model, names, quants),
    await manifestChunk(model, names, quants, rows, shardRows, choices),
  ]
  const content = [...(index.stage === 'end' ? metadata.map(besideIndex) : metadata), index, ...weights, ...kept]
  return buildFile(content, { name, uuid, controlHash, hashFirst })
}

const roles: Readonly<Record<string, string>> = {
  MJSN: 'json',
  MMSG: 'manifest',
  TIDX: 'tensors',
  WTSH: 'weights',
  PHSH: 'page_hashes',
}

/** How the manifest calls what a chunk holds. */
export const roleOf = (fourcc: string): string => roles[fourcc] ?? 'unknown'

export const controlRow: ManifestChunk = { role: 'control_integrity', fourcc: 'IHSH' }

/** Readers over a network fetch this much first. What does not come with that should come with the second request, the one for the index. */
const firstRequest = 65_536
const besideIndex = (chunk: OutChunk): OutChunk =>
  chunk.length < firstRequest / 2 ? chunk : { ...chunk, stage: 'end' }

export const quantsOf = (model: Model): QuantTable => planQuants(model.tensors, model.metadata.has('quant_descriptors'))

export const metaBytes = ({ metadata }: Model, names: ModelNames, { descriptors }: QuantTable): Uint8Array => {
  const written = withNames(metadata, names)
  if (descriptors.length > 0) written.set('quant_descriptors', { type: 'json', value: descriptors })
  return encodeMetaJson(written)
}

export const metaChunk = (model: Model, names: ModelNames, quants: QuantTable): Promise<OutChunk> =>
  plainChunk({ fourcc: 'MJSN', name: 'meta.json', flags: 0 }, metaBytes(model, names, quants))

export function manifestChunk(
  model: Model,
  names: ModelNames,
  { descriptors }: QuantTable,
  chunks: readonly ManifestChunk[],
  shards: readonly ManifestShard[],
  { tensorHashes, zstdLevel }: Pick<Choices, 'tensorHashes' | 'zstdLevel'>,
): Promise<OutChunk> {
  const { quant_descriptors: old, ...rest } = extraOf(model.parts, manifestKind) ?? {}
  const list: JsonValue | undefined =
    descriptors.length > 0 ? descriptors : model.metadata.has('quant_descriptors') ? old : undefined
  const extra = list === undefined ? rest : { ...rest, quant_descriptors: list }
  const bytes = encodeManifest(names, extra, chunks, shards)
  const kind = { fourcc: 'MMSG', name: 'manifest', flags: 0 }
  // A chunk's hash covers the decompressed bytes. Some changes of the compressed ones make no difference there, and would go unnoticed.
  return tensorHashes ? plainChunk(kind, bytes) : compressedChunk(kind, bytes, zstdLevel)
}

function indexChunk(plan: IndexPlan, { zstdLevel }: Choices, isKnownFirst: boolean): OutChunk | Promise<OutChunk> {
  const kind = { fourcc: 'TIDX', name: 'tensors', flags: flags.index }
  if (!plan.withHashes) return compressedChunk(kind, encodeIndex(plan), zstdLevel)
  return {
    ...payloadChunk(kind, indexPayload(plan), isKnownFirst ? 'front' : 'end'),
    derive: (offsetOf) => ({
      needs: plan.shards.map((shard) => shard.tensorTrack(offsetOf(shard))),
      make: (digests) => indexWith(plan, digests),
    }),
  }
}

/** What manifest or index of the model's file held beyond what is written from the model. */
export function extraOf(parts: readonly Part[], kind: string): JsonObject | undefined {
  const value = parts.find((part) => part.kind === kind)?.value
  return isObject(value) ? value : undefined
}

/** Chunks that came along from the file that the model was read from. */
export function keptChunks(parts: readonly Part[]): OutChunk[] {
  return parts
    .filter((part) => part.kind === chunkKind && part.data && part.content)
    .map((part) => {
      const { fourcc, name, flags: chunkFlags, ulen, hash } = part.content as Chunk
      const chunk = payloadChunk({ fourcc, name, flags: chunkFlags }, part.data!, 'weights')
      return { ...chunk, ulen, hash, computeHash: async () => hash }
    })
}
