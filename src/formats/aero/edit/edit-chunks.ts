// The chunks that an edit makes anew: the JSON metadata, the manifest where it repeats something of them, and the index when tensors are
// called otherwise.
import { digestOf } from '../../../digest/index.js'
import { collectingReport } from '../../../errors/index.js'
import { defaultLimits, type Model, readPayload, type Tensor } from '../../../model/index.js'
import { encodeZstd } from '../../../wire/zstd/zstd.js'
import { type Chunk, isCompressed, readChunks } from '../control/chunk.js'
import { type AeroFile, chunkKind, controlHashOf } from '../file.js'
import { encodeMetaJson } from '../index/meta-json.js'
import { areSameEntries, quantsOf, remakeManifest } from '../layout.js'
import { flags } from '../structs.js'
import { modelNames, namesToWrite, withNames } from '../write/names.js'
import { renameEntries } from './rename-entries.js'

/** A chunk as it will be stored. */
export interface NewChunk {
  readonly flags: number
  readonly bytes: Uint8Array
  readonly ulen: number
  readonly hash: Uint8Array
}

/** By the chunk that each takes the place of; undefined when the table would need another entry, or more than metadata changes. */
export async function makeNewChunks(
  file: AeroFile,
  edited: Model,
  signal: AbortSignal | undefined,
): Promise<Map<Chunk, NewChunk> | undefined> {
  const made = new Map<Chunk, NewChunk>()
  const kept = edited.parts.filter((part) => part.kind === chunkKind)
  if (kept.length !== file.kept.length || kept.some((part, i) => part.content !== file.kept[i])) return undefined
  if (!areSameEntries(edited.metadata, file.metadata)) {
    if (!file.metaJson) return undefined
    made.set(file.metaJson, await likeBefore(file.metaJson, await metaJsonOf(edited)))
    if (file.manifest && repeatsOther(file, edited)) {
      const manifest = await manifestOf(file, edited, signal)
      if (!manifest) return undefined
      made.set(file.manifest, manifest)
    }
  }
  const names = newNames(file, edited.tensors)
  if (!names) return undefined
  if (names.size > 0) {
    if (!file.index) return undefined
    const context = { report: collectingReport(file.source.name, []), limits: defaultLimits, lenient: true, signal }
    const [content] = await readChunks(file.source, [file.index], context)
    if (!content) return undefined
    made.set(
      file.index,
      await likeBefore(
        file.index,
        renameEntries(content.bytes, (entry) => names.get(entry)),
      ),
    )
  }
  return made
}

async function metaJsonOf(edited: Model): Promise<Uint8Array> {
  const metadata = withNames(edited.metadata, await namesToWrite(edited, {}))
  const { descriptors } = quantsOf(edited)
  if (descriptors.length > 0) metadata.set('quant_descriptors', { type: 'json', value: descriptors })
  return encodeMetaJson(metadata)
}

async function likeBefore(old: Chunk, content: Uint8Array): Promise<NewChunk> {
  const bytes = isCompressed(old) ? await encodeZstd(content) : content
  return { flags: old.flags, bytes, ulen: content.byteLength, hash: await digestOf('blake3', content) }
}

const repeatsOther = ({ metadata }: AeroFile, edited: Model): boolean => {
  const [before, after] = [modelNames(metadata), modelNames(edited.metadata)]
  const hadTypes = metadata.has('quant_descriptors')
  return (
    before.name !== after.name ||
    before.architecture !== after.architecture ||
    hadTypes !== edited.metadata.has('quant_descriptors')
  )
}

async function manifestOf(
  file: AeroFile,
  edited: Model,
  signal: AbortSignal | undefined,
): Promise<NewChunk | undefined> {
  const ihsh = controlHashOf(file)
  // The manifest counts the entries of the table, where the control hash is expected to be the first.
  if (ihsh && ihsh.index !== 0) return undefined
  const { chunks } = file.control
  const isPlain = !isCompressed(file.manifest!)
  const choices = { controlHash: ihsh !== undefined, tensorHashes: isPlain, zstdLevel: undefined }
  const others = chunks.filter((chunk) => chunk !== ihsh)
  const { flags: made, slots, ulen, hash } = await remakeManifest(edited, file, others, choices, {})
  const [slot] = slots
  const bytes =
    slot?.kind === 'bytes' ? slot.bytes : slot?.kind === 'payload' && (await readPayload(slot.payload, signal))
  if (!bytes || !hash) return undefined
  return { flags: file.manifest!.flags - (isPlain ? 0 : flags.zstd) + (made % 2), bytes, ulen, hash }
}

/** The new names by their position in the index; undefined when the tensors are others. */
function newNames({ table }: AeroFile, tensors: readonly Tensor[]): Map<number, string> | undefined {
  const names = new Map<number, string>()
  if (tensors.length !== table.count) return undefined
  for (const [i, { name, data }] of tensors.entries()) {
    const old = table.tensors.at(i)!
    if (data !== old.data) return undefined
    if (name !== old.name) names.set(table.entryOf(i), name)
  }
  return names
}
