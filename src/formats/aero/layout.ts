// Writing a file. What did not change since it was read is copied as it is stored: the whole file when nothing changed, index and weights
// when only the metadata did. Everything else is laid out from the model.
import { collectingReport } from '../../errors/index.js'
import {
  defaultLimits,
  type FileLayout,
  type Layout,
  type Model,
  rangePayload,
  type WriteOptions,
} from '../../model/index.js'
import { areSameTensors } from '../../model/tensor-order.js'
import { type Chunk, readChunks } from './control/chunk.js'
import { type AeroFile, chunkKind, fileOf, indexKind, manifestKind } from './file.js'
import { parsePageTable } from './hash/phsh.js'
import type { ManifestChunk, ManifestShard } from './index/manifest.js'
import { buildFile } from './write/build-file.js'
import {
  controlRow,
  extraOf,
  keptChunks,
  layoutContent,
  manifestChunk,
  metaChunk,
  quantsOf,
  roleOf,
} from './write/content.js'
import { namesToWrite } from './write/names.js'
import { asksForLayout, type Choices, chooseOptions } from './write/options.js'
import { type OutChunk, storedChunk } from './write/out-chunk.js'
import { planShards, shardContents } from './write/shards.js'

export async function layout(model: Model, options: WriteOptions): Promise<Layout> {
  const file = fileOf(model)
  const hasSameTensors = file !== undefined && !options.rewrite && !asksForLayout(options) && isSameIndex(model, file)
  if (hasSameTensors && isUntouched(model, file)) return { files: [copyOf(file, options.name)] }
  const choices = chooseOptions(options, file && (await traitsOf(file, options)))
  if (hasSameTensors) return { files: [await withNewMetadata(model, file, choices, options)] }
  const { tensors, shards: plans } = planShards(model.tensors, choices.shardSize, choices.alignment)
  const wanted = { tensors: choices.tensorHashes, pageSize: choices.pageSize }
  const shards = shardContents(plans, wanted, options)
  const plan = {
    name: options.name,
    names: await namesToWrite(model, options),
    quants: quantsOf(model),
    tensors,
    shards,
    stored: shards,
    kept: keptChunks(model.parts),
    hashFirst: false,
  }
  return { files: [await layoutContent(model, plan, choices)] }
}

const isSameIndex = (model: Model, file: AeroFile): boolean =>
  areSameTensors(model.tensors, file.tensors) && extraOf(model.parts, indexKind) === extraOf(file.extras, indexKind)

function isUntouched(model: Model, file: AeroFile): boolean {
  const hasSameManifest = extraOf(model.parts, manifestKind) === extraOf(file.extras, manifestKind)
  return hasSameKept(model, file) && hasSameManifest && areSameEntries(model.metadata, file.metadata)
}

/** Whether the model still has the chunks that travel with it. */
export function hasSameKept(model: Model, file: AeroFile): boolean {
  const kept = model.parts.filter((part) => part.kind === chunkKind)
  return kept.length === file.kept.length && kept.every((part, i) => part.content === file.kept[i])
}

export function areSameEntries<K, V>(a: ReadonlyMap<K, V>, b: ReadonlyMap<K, V>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value)
}

export const copyOf = ({ source }: AeroFile, name: string): FileLayout => ({
  name,
  slots: [{ kind: 'payload', path: 'file', payload: rangePayload(source, 0, source.size) }],
})

/** Which hashes the file has, so that a new one has them too. */
async function traitsOf({ source, pageTables, controlHash }: AeroFile, { signal }: WriteOptions) {
  let pageSize: number | undefined
  const [first] = pageTables
  if (first) {
    const [shard, table] = first
    const report = collectingReport(source.name, []) // a table that is damaged has no page size
    const [content] = await readChunks(source, [table], { report, limits: defaultLimits, lenient: true, signal })
    pageSize = content && parsePageTable(content, shard, report)?.pageSize
  }
  return { pageSize, controlHash: controlHash !== undefined }
}

/** The chunks keep their order in the table; only those that hold metadata are made from the model. */
async function withNewMetadata(
  model: Model,
  file: AeroFile,
  choices: Choices,
  options: WriteOptions,
): Promise<FileLayout> {
  const { control, source } = file
  const dropped = new Set(file.kept)
  for (const part of model.parts) dropped.delete(part.content as Chunk)
  const old = control.chunks.filter((chunk) => chunk !== file.controlHash && !dropped.has(chunk))
  const rest = file.metaJson ? old : [undefined, ...old]
  const metaJson = await metaChunk(model, await namesToWrite(model, options), quantsOf(model))
  const content: OutChunk[] = []
  for (const chunk of rest) {
    if (chunk === undefined || chunk === file.metaJson) content.push(metaJson)
    else if (chunk === file.manifest) content.push(await rewriteManifest(model, file, rest, choices, options))
    else content.push(storedChunk(chunk, source))
  }
  const { uuid, controlHash } = choices
  return buildFile(content, { name: options.name, uuid, controlHash, hashFirst: false })
}

/** A manifest that goes with another table of contents; undefined stands for a JSON chunk that is added. */
export async function rewriteManifest(
  model: Model,
  { entries }: AeroFile,
  chunks: readonly (Chunk | undefined)[],
  choices: Pick<Choices, 'controlHash' | 'tensorHashes' | 'zstdLevel'>,
  options: Pick<WriteOptions, 'names'>,
): Promise<OutChunk> {
  const counts = new Map<Chunk | undefined, number>()
  for (const { shard } of entries) counts.set(shard, (counts.get(shard) ?? 0) + 1)
  const rows: ManifestChunk[] = choices.controlHash ? [controlRow] : []
  const shardRows: ManifestShard[] = []
  for (const chunk of chunks) {
    const fourcc = chunk?.fourcc ?? 'MJSN'
    const id = chunk && shardIdOf(chunk)
    if (chunk && fourcc === 'WTSH' && id !== undefined)
      shardRows.push({ id, tocIndex: rows.length, size: chunk.length, tensorCount: counts.get(chunk) ?? 0 })
    rows.push({ role: roleOf(fourcc), fourcc, ...(id !== undefined && { shardId: id }) })
  }
  const names = await namesToWrite(model, options)
  return manifestChunk(model, names, quantsOf(model), rows, shardRows, choices)
}

function shardIdOf({ fourcc, name }: Chunk): number | undefined {
  const id = fourcc === 'WTSH' || fourcc === 'PHSH' ? /^weights\.shard(\d+)(\.phsh)?$/.exec(name)?.[1] : undefined
  return id === undefined ? undefined : Number(id)
}
