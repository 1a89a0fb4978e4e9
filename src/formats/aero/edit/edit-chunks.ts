// The chunks that an edit rewrites: the JSON metadata, the manifest where it repeats something of it, and the index when tensors get other
// names.
import { digestOf } from '../../../digest/index.js'
import { collectingReport } from '../../../errors/index.js'
import { defaultLimits, type Model, readPayload, type Tensor } from '../../../model/index.js'
import { encodeZstd } from '../../../wire/zstd/encoder.js'
import { type Chunk, isCompressed, readChunks } from '../control/chunk.js'
import type { AeroFile } from '../file.js'
import { areSameEntries, hasSameKept, rewriteManifest } from '../layout.js'
import { flags } from '../structs.js'
import { metaBytes, quantsOf } from '../write/content.js'
import { modelNames, namesToWrite } from '../write/names.js'
import { renameEntries } from './rename-entries.js'

/** A chunk as it will be stored. */
export interface NewChunk {
  readonly flags: number
  readonly bytes: Uint8Array
  readonly ulen: number
  readonly hash: Uint8Array
}

/** By the chunk that each replaces; undefined when the table would need another entry, or when more than metadata changes. */
export async function makeNewChunks(
  file: AeroFile,
  edited: Model,
  signal: AbortSignal | undefined,
): Promise<Map<Chunk, NewChunk> | undefined> {
  const made = new Map<Chunk, NewChunk>()
  if (!hasSameKept(edited, file)) return undefined
  if (!areSameEntries(edited.metadata, file.metadata)) {
    if (!file.metaJson) return undefined
    const metaJson = metaBytes(edited, await namesToWrite(edited, {}), quantsOf(edited))
    made.set(file.metaJson, await likeBefore(file.metaJson, metaJson))
    if (file.manifest && mustChange(file, edited)) {
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
    const renamed = renameEntries(content.bytes, (entry) => names.get(entry))
    made.set(file.index, await likeBefore(file.index, renamed))
  }
  return made
}

async function likeBefore(old: Chunk, content: Uint8Array): Promise<NewChunk> {
  const bytes = isCompressed(old) ? await encodeZstd(content) : content
  return { flags: old.flags, bytes, ulen: content.byteLength, hash: await digestOf('blake3', content) }
}

/** Whether the manifest repeats something that the edit changes. */
const mustChange = ({ metadata }: AeroFile, edited: Model): boolean => {
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
  const { controlHash, control } = file
  // The manifest counts the entries of the table, where the control hash is expected to be the first.
  if (controlHash && controlHash.index !== 0) return undefined
  const isPlain = !isCompressed(file.manifest!)
  const choices = { controlHash: controlHash !== undefined, tensorHashes: isPlain, zstdLevel: undefined }
  const others = control.chunks.filter((chunk) => chunk !== controlHash)
  const { flags: newFlags, slots, ulen, hash } = await rewriteManifest(edited, file, others, choices, {})
  const [slot] = slots
  const bytes =
    slot?.kind === 'bytes' ? slot.bytes : slot?.kind === 'payload' && (await readPayload(slot.payload, signal))
  if (!bytes || !hash) return undefined
  return { flags: file.manifest!.flags - (isPlain ? 0 : flags.zstd) + (newFlags % 2), bytes, ulen, hash }
}

/** The new names by their position in the index; undefined when the tensors are others. */
function newNames({ entries }: AeroFile, tensors: readonly Tensor[]): Map<number, string> | undefined {
  const names = new Map<number, string>()
  if (tensors.length !== entries.length) return undefined
  for (const [i, { name, data }] of tensors.entries()) {
    const { tensor: old, index } = entries[i]!
    if (data !== old.data) return undefined
    if (name !== old.name) names.set(index, name)
  }
  return names
}
