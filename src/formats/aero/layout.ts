// Writing a file. What did not change since it was read travels as it is stored: the whole file when nothing changed, index and weights
// when only the metadata did. Everything else is laid out anew, in the order of the reference writer.

import { collectingReport } from '../../errors/index.js'
import {
  defaultLimits,
  type FileLayout,
  type JsonValue,
  type Layout,
  type Model,
  type ModelNames,
  type Part,
  type Payload,
  rangePayload,
  type WriteOptions,
} from '../../model/index.js'
import { areSameTensors } from '../../model/tensor-order.js'
import type { Chunk } from './control/chunk.js'
import { readChunks } from './control/chunk.js'
import { type AeroFile, chunkKind, controlHashOf, fileOf, indexKind, manifestKind, pageTablesOf } from './file.js'
import { parsePageTable } from './hash/phsh.js'
import { encodeManifest, isObject, type JsonObject, type ManifestChunk, type ManifestShard } from './index/manifest.js'
import { encodeMetaJson } from './index/meta-json.js'
import { flags } from './structs.js'
import { buildFile } from './write/build-file.js'
import { namesToWrite, withNames } from './write/names.js'
import { asksForLayout, type Choices, chooseOptions } from './write/options.js'
import {
  compressedChunk,
  type OutChunk,
  pagesChunk,
  payloadChunk,
  plainChunk,
  shardChunk,
  storedChunk,
} from './write/out-chunk.js'
import { planShards, type ShardContent, shardContents, type WeightPlan } from './write/shards.js'
import { encodeIndex, type IndexPlan, indexPayload, planQuants, type QuantTable } from './write/write-tidx.js'

export async function layout(model: Model, options: WriteOptions): Promise<Layout> {
  const file = fileOf(model)
  const sameTensors = file !== undefined && !options.rewrite && !asksForLayout(options) && isSameIndex(model, file)
  if (sameTensors && isUntouched(model, file)) return { files: [copyOf(file, options.name)] }
  const choices = chooseOptions(options, file && (await traitsOf(file, options)))
  if (sameTensors) return { files: [await withNewMetadata(model, file, choices, options)] }
  return layoutFresh(model, choices, options)
}

const isSameIndex = (model: Model, file: AeroFile): boolean =>
  areSameTensors(model.tensors, file.table.tensors) &&
  extraOf(model.parts, indexKind) === extraOf(file.extras, indexKind)

export function areSameEntries<K, V>(a: ReadonlyMap<K, V>, b: ReadonlyMap<K, V>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)
}

function isUntouched(model: Model, file: AeroFile): boolean {
  const kept = model.parts.filter((part) => part.kind === chunkKind)
  const sameChunks = kept.length === file.kept.length && kept.every((part, i) => part.content === file.kept[i])
  const sameManifest = extraOf(model.parts, manifestKind) === extraOf(file.extras, manifestKind)
  return sameChunks && sameManifest && areSameEntries(model.metadata, file.metadata)
}

const copyOf = ({ source }: AeroFile, name: string): FileLayout => ({
  name,
  slots: [{ kind: 'payload', path: 'file', payload: rangePayload(source, 0, source.size) }],
})

/** Which hashes the file has, so that a new one has them too. */
async function traitsOf(file: AeroFile, { signal }: WriteOptions) {
  let pageSize: number | undefined
  const [first] = pageTablesOf(file)
  if (first) {
    const [shard, table] = first
    const report = collectingReport(file.source.name, []) // a table that is damaged has no page size
    const [content] = await readChunks(file.source, [table], { report, limits: defaultLimits, lenient: true, signal })
    pageSize = content && parsePageTable(content, shard, report)?.pageSize
  }
  return { pageSize, controlHash: controlHashOf(file) !== undefined }
}

/** The chunks stay where they are in the table; only those that hold metadata are made anew. */
async function withNewMetadata(
  model: Model,
  file: AeroFile,
  choices: Choices,
  options: WriteOptions,
): Promise<FileLayout> {
  const { control, source } = file
  const ihsh = controlHashOf(file)
  const dropped = new Set(file.kept)
  for (const part of model.parts) dropped.delete(part.content as Chunk)
  const old = control.chunks.filter((chunk) => chunk !== ihsh && !dropped.has(chunk))
  const rest = file.metaJson ? old : [undefined, ...old]
  const metaJson = await metaChunk(model, await namesToWrite(model, options), quantsOf(model))
  const content: OutChunk[] = []
  for (const chunk of rest) {
    if (chunk === undefined || chunk === file.metaJson) content.push(metaJson)
    else if (chunk === file.manifest) content.push(await remakeManifest(model, file, rest, choices, options))
    else content.push(storedChunk(chunk, source))
  }
  return buildFile(content, buildOptions(choices, options.name, false))
}

/** A manifest that goes with another table of contents; undefined stands for a JSON chunk that is added. */
export async function remakeManifest(
  model: Model,
  file: AeroFile,
  chunks: readonly (Chunk | undefined)[],
  choices: Pick<Choices, 'controlHash' | 'tensorHashes' | 'zstdLevel'>,
  options: Pick<WriteOptions, 'names'>,
): Promise<OutChunk> {
  const lead = choices.controlHash ? 1 : 0
  const names = await namesToWrite(model, options)
  return manifestChunk(model, names, quantsOf(model), rows(chunks, lead), shardRows(chunks, lead, file), choices)
}

const roles: Readonly<Record<string, string>> = {
  MJSN: 'json',
  MMSG: 'manifest',
  TIDX: 'tensors',
  WTSH: 'weights',
  PHSH: 'page_hashes',
}

function rows(chunks: readonly (Chunk | undefined)[], lead: number): ManifestChunk[] {
  const listed = chunks.map((chunk): ManifestChunk => {
    const fourcc = chunk?.fourcc ?? 'MJSN'
    const shardId = chunk && shardIdOf(chunk)
    return { role: roles[fourcc] ?? 'unknown', fourcc, ...(shardId !== undefined && { shardId }) }
  })
  return lead === 1 ? [controlRow, ...listed] : listed
}

const controlRow: ManifestChunk = { role: 'control_integrity', fourcc: 'IHSH' }

function shardIdOf({ fourcc, name }: Chunk): number | undefined {
  const id = fourcc === 'WTSH' || fourcc === 'PHSH' ? /^weights\.shard(\d+)(\.phsh)?$/.exec(name)?.[1] : undefined
  return id === undefined ? undefined : Number(id)
}

function shardRows(chunks: readonly (Chunk | undefined)[], lead: number, { table }: AeroFile): ManifestShard[] {
  const counts = new Map<Chunk, number>()
  for (let i = 0; i < table.count; i++) {
    const shard = table.shardOf(i)
    if (shard) counts.set(shard, (counts.get(shard) ?? 0) + 1)
  }
  return chunks.flatMap((chunk, i) => {
    const id = chunk?.fourcc === 'WTSH' ? shardIdOf(chunk) : undefined
    if (!chunk || id === undefined) return []
    return [{ id, tocIndex: i + lead, size: chunk.length, tensorCount: counts.get(chunk) ?? 0 }]
  })
}

async function layoutFresh(model: Model, choices: Choices, options: WriteOptions): Promise<Layout> {
  const weights = planShards(model.tensors, choices.shardSize, choices.alignment)
  const wishes = { tensors: choices.tensorHashes, pageSize: choices.pageSize }
  const shards = shardContents(weights, wishes, options)
  const plan: ContentPlan = {
    name: options.name,
    quants: quantsOf(model),
    weights,
    members: undefined,
    shards,
    stored: shards,
    names: await namesToWrite(model, options),
    kept: keptChunks(model.parts),
    hashFirst: false,
  }
  return { files: [await layoutContent(model, plan, choices)] }
}

export interface ContentPlan {
  readonly name: string
  readonly quants: QuantTable
  /** The tensors of the index, and the shards that they are in. */
  readonly weights: WeightPlan
  readonly members: IndexPlan['members']
  readonly shards: readonly ShardContent[]
  /** The shards that this file holds; none in the global index of a set. */
  readonly stored: readonly ShardContent[]
  readonly names: ModelNames
  readonly kept: readonly OutChunk[]
  /** Every byte must be known before it is written. */
  readonly hashFirst: boolean
}

export async function layoutContent(model: Model, plan: ContentPlan, choices: Choices): Promise<FileLayout> {
  const { kept, quants } = plan
  const index: IndexPlan = {
    weights: plan.weights,
    members: plan.members,
    shards: plan.shards,
    quants,
    withHashes: choices.tensorHashes,
    extra: extraOf(model.parts, indexKind),
  }
  // Where the weights are read before they are written, what tells about them stands in front of them, where readers find it sooner.
  const isKnownFirst = plan.hashFirst || choices.uuid === undefined
  const lead = choices.controlHash ? 1 : 0
  const chunkRows: ManifestChunk[] = [
    ...(lead === 1 ? [controlRow] : []),
    { role: 'json', fourcc: 'MJSN' },
    { role: 'manifest', fourcc: 'MMSG' },
    { role: 'tensors', fourcc: 'TIDX' },
  ]
  const manifestShards: ManifestShard[] = []
  const weightChunks: OutChunk[] = []
  for (const shard of plan.stored) {
    const { id, size, tensorCount } = shard.plan
    manifestShards.push({ id, tocIndex: chunkRows.length, size, tensorCount })
    chunkRows.push({ role: 'weights', fourcc: 'WTSH', shardId: id })
    weightChunks.push(shardChunk(shard, choices.alignment))
    // A page table without pages is one that the reference refuses.
    if (choices.pageSize === undefined || size === 0) continue
    chunkRows.push({ role: 'page_hashes', fourcc: 'PHSH', shardId: id })
    weightChunks.push(pagesChunk(shard, choices.pageSize, isKnownFirst ? 'front' : 'weights'))
  }
  for (const chunk of kept) chunkRows.push({ role: roles[chunk.fourcc] ?? 'unknown', fourcc: chunk.fourcc })
  const tensors = await indexChunk(index, choices, isKnownFirst)
  const metadata = [
    await metaChunk(model, plan.names, quants),
    await manifestChunk(model, plan.names, quants, chunkRows, manifestShards, choices),
  ]
  const content = [
    ...(tensors.stage === 'end' ? metadata.map(besideIndex) : metadata),
    tensors,
    ...weightChunks,
    ...kept,
  ]
  return buildFile(content, buildOptions(choices, plan.name, plan.hashFirst))
}

/** What a reader over a network does not get with its first request it should get with the second, which is that for the index. */
const firstRequest = 65_536
const besideIndex = (chunk: OutChunk): OutChunk =>
  chunk.length < firstRequest / 2 ? chunk : { ...chunk, stage: 'end' }

const buildOptions = ({ uuid, controlHash }: Choices, name: string, hashFirst: boolean) => ({
  name,
  uuid,
  controlHash,
  hashFirst,
})

export const quantsOf = (model: Model): QuantTable => planQuants(model.tensors, model.metadata.has('quant_descriptors'))

function metaChunk({ metadata: stated }: Model, names: ModelNames, { descriptors }: QuantTable): Promise<OutChunk> {
  const metadata = withNames(stated, names)
  if (descriptors.length > 0) metadata.set('quant_descriptors', { type: 'json', value: descriptors })
  return plainChunk({ fourcc: 'MJSN', name: 'meta.json', flags: 0 }, encodeMetaJson(metadata))
}

function manifestChunk(
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
  // A hash covers the unfolded bytes; some changes of compressed ones make no difference there, and would go unseen.
  return tensorHashes ? plainChunk(kind, bytes) : compressedChunk(kind, bytes, zstdLevel)
}

function indexChunk(plan: IndexPlan, { zstdLevel }: Choices, isKnownFirst: boolean): OutChunk | Promise<OutChunk> {
  const kind = { fourcc: 'TIDX', name: 'tensors', flags: flags.index }
  if (!plan.withHashes) return compressedChunk(kind, encodeIndex(plan), zstdLevel)
  return payloadChunk(kind, indexPayload(plan), isKnownFirst ? 'front' : 'end')
}

function extraOf(parts: readonly Part[], kind: string): JsonObject | undefined {
  const value = parts.find((part) => part.kind === kind)?.value
  return isObject(value) ? value : undefined
}

/** Chunks that came along from the file that the model was read from. */
export function keptChunks(parts: readonly Part[]): OutChunk[] {
  return parts
    .filter((part) => part.kind === chunkKind && part.data && part.content)
    .map((part) => {
      const { fourcc, name, flags: chunkFlags, ulen, hash } = part.content as Chunk
      const payload: Payload = part.data!
      const chunk = payloadChunk({ fourcc, name, flags: chunkFlags }, payload, 'weights')
      return { ...chunk, ulen, hash, computeHash: async () => hash }
    })
}
