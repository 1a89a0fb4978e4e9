// Reads a set as one model. The global index lists every tensor and its shard; the set index says which part has that shard; the part's
// own index, asked by name, says where the bytes are. (The offsets in the global index are those of the shard, and parts of the
// reference writer number their shards from 0 again, so names are the only thing that always works.)
//
// Opening reads the set index and the global index. A part is opened when it is first read from; verifying opens all of them.
import { type ByteSource, sliceSource, toHex } from '../../../bytes/index.js'
import { digestOf } from '../../../digest/index.js'
import { TareError } from '../../../errors/index.js'
import type { MetaValue, Model, Part, ReadContext, Tensor } from '../../../model/index.js'
import { digestRanges } from '../../../threads/index.js'
import { setCodes } from '../codes.js'
import { type AeroFile, containerKind, type OpenFile, type Proven, setKind, type TensorEntry } from '../file.js'
import { toPlain } from '../index/meta-json.js'
import { readFile } from '../read.js'
import { placeSetTensors } from './place-set.js'
import { checkSize, messageOf, type OpenPart, openSetFile, SetParts } from './set-files.js'
import { knownKeys, parseSetIndex, type SetFile, type SetIndex } from './set-json.js'

export const setExtraKind = 'aeroset.extra'

/** What is known of a set beyond the model. */
export interface AeroSet {
  readonly source: ByteSource
  readonly bytes: Uint8Array
  readonly index: SetIndex
  readonly global: OpenFile
  readonly parts: SetParts
  /** The model as it was read. */
  readonly tensors: readonly Tensor[]
  readonly metadata: ReadonlyMap<string, MetaValue>
  readonly kept: readonly Part[]
  /** Parts that could be read, when all were tried. */
  readonly opened: readonly (OpenPart | undefined)[] | undefined
  lastProven?: Proven | undefined
  /** The part file that holds a tensor of the set, and its entry there; opens the part. Undefined for bytes that are not those of the set. */
  locate(tensor: Tensor): Promise<{ file: AeroFile; entry: TensorEntry } | undefined>
}

export const setOf = (model: Model): AeroSet | undefined =>
  model.parts.find((part) => part.kind === setKind)?.content as AeroSet | undefined

export async function readSet(source: ByteSource, context: ReadContext): Promise<{ model: Model; set: AeroSet }> {
  const { report, limits, signal } = context
  if (source.size > limits.indexBytes) {
    const message = `an index of ${source.size} bytes is over the limit of ${limits.indexBytes}`
    report.fail(setCodes.json, { offset: 0, path: 'file', message })
  }
  const bytes = await source.read(0, source.size, { signal })
  const index = parseSetIndex(bytes, report)
  context.extents?.add({ file: source.name, offset: 0, length: source.size, path: 'index', kind: 'field' })
  const global = await readGlobal(index, source, context)
  const parts = new SetParts(index, global.file, source, context)
  const opened = report.strict && !context.extents ? undefined : await openAll(index, parts, context)
  if (!opened) await parts.assertPaths()
  const tensors = placeSetTensors(index, global, parts, opened, context)
  const metadata = mergeMetadata(index, global.model)
  const locate = locatorOf(index, global.file, parts, tensors, context)
  const kept = keptParts(index, global.model)
  const set: AeroSet = { source, bytes: bytes.slice(), index, global, parts, tensors, metadata, kept, opened, locate }
  const partFiles = [...new Set(opened)].flatMap((part) => part?.model.files ?? [])
  const model: Model = {
    format: 'aeroset',
    version: index.version,
    metadata,
    tensors,
    parts: [containerPart(set), ...kept],
    files: [closingAll(source, parts), ...global.model.files, ...partFiles],
  }
  return { model, set }
}

/** Parts that are opened later are closed together with the set index. */
function closingAll(source: ByteSource, parts: SetParts): ByteSource {
  return {
    ...sliceSource(source, 0, source.size),
    async close() {
      await parts.close()
      await source.close()
    },
  }
}

async function readGlobal(index: SetIndex, source: ByteSource, context: ReadContext): Promise<OpenFile> {
  const { report, signal } = context
  const { global } = index
  let file: ByteSource
  try {
    file = await openSetFile(global, index, source, context)
  } catch (error) {
    if (error instanceof TareError && error.code.startsWith('aeroset/')) throw error
    const message = `${JSON.stringify(global.path)} cannot be opened: ${messageOf(error)}`
    return report.fail(setCodes['index-missing'], { offset: 0, path: 'global_tidx.path', message })
  }
  checkSize(global, file, context)
  if (!report.strict && global.sha256 !== undefined && file.size <= context.limits.indexBytes) {
    if (toHex(await sha256Of(file, signal)) !== global.sha256) complainSha256(global, context)
  }
  return readFile(file, { ...context, report: report.forFile(file.name) })
}

/** A local file is hashed in passing. What comes over a network is read as a whole, and then need not be fetched again. */
async function sha256Of(file: ByteSource, signal: AbortSignal | undefined): Promise<Uint8Array> {
  if (!file.handle) return digestOf('sha256', await file.read(0, file.size, { signal }))
  return (await digestRanges(file, [{ start: 0, end: file.size, algorithm: 'sha256' }], { signal }))(0)
}

export function complainSha256(stated: SetFile, { report }: ReadContext): void {
  const message = `${JSON.stringify(stated.path)} does not have the SHA-256 that the set index states`
  report.report(setCodes.sha256, { offset: 0, path: `${stated.where}.sha256`, message })
}

async function openAll(index: SetIndex, parts: SetParts, context: ReadContext): Promise<(OpenPart | undefined)[]> {
  const opened: (OpenPart | undefined)[] = []
  for (const [i, stated] of index.parts.entries()) {
    try {
      opened.push(await parts.open(i))
    } catch (error) {
      if (!(error instanceof TareError) || context.signal?.aborted) throw error
      if (!error.code.startsWith('aeroset/')) {
        const message = `${JSON.stringify(stated.path)} cannot be read: ${error.finding.message}`
        context.report.report(setCodes['part-unreadable'], { offset: 0, path: stated.where, message })
      }
      opened.push(undefined)
    }
  }
  return opened
}

function locatorOf(
  index: SetIndex,
  global: AeroFile,
  parts: SetParts,
  tensors: readonly Tensor[],
  { report }: ReadContext,
): AeroSet['locate'] {
  let byName: ReadonlyMap<string, Tensor> | undefined
  return async ({ name, data }) => {
    byName ??= new Map(tensors.map((tensor) => [tensor.name, tensor]))
    const known = byName.get(name)
    if (!known || known.data !== data) return undefined
    const number = index.partOf.get(global.entryOf(name)?.shardId ?? -1)
    const part = number === undefined ? undefined : await parts.open(number)
    const entry = part?.file.entryOf(name)
    if (part && entry) return { file: part.file, entry }
    const message = `no part of the set holds ${JSON.stringify(name)}`
    return report.fail(setCodes['tensor-not-in-part'], { offset: 0, path: name, message })
  }
}

function mergeMetadata({ model }: SetIndex, global: Model): Map<string, MetaValue> {
  const metadata = new Map(global.metadata)
  for (const [key, value] of model) {
    const name = key === 'name' ? 'model_name' : key
    const isBlank = value.type === 'str' && value.value === ''
    if (!metadata.has(name) && !isBlank) metadata.set(name, value)
  }
  return metadata
}

function containerPart(set: AeroSet): Part {
  const { index } = set
  const files = [...index.parts, index.global].map(({ path, size }) => ({ path, size: size ?? null }))
  return {
    kind: setKind,
    sharing: 'derived',
    value: { version: index.version, base_url: index.baseUrl ?? null, files: files.slice(0, 256) },
    content: set,
  }
}

/** Keys that a writer does not put there, and what the global index carries beside its tensors. */
function keptParts(index: SetIndex, global: Model): Part[] {
  const extra = new Map([...index.root].filter(([key]) => !knownKeys.has(key)))
  // They belong to AERO, and keep that owner in a file that is no set.
  const parts = global.parts
    .filter((part) => part.kind !== containerKind)
    .map((part): Part => (part.sharing === 'private' ? { ...part, owner: global.format } : part))
  if (extra.size === 0) return parts
  return [...parts, { kind: setExtraKind, sharing: 'private', value: toPlain(extra) }]
}
