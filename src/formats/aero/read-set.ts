// Reads a set as one model. The global index lists every tensor and its shard; the set index says which part has that shard; the part's
// own index, asked by name, says where the bytes are. (The offsets in the global index are those of the shard, and parts of the
// reference writer number their shards from 0 again, so names are the only thing that always works.)
//
// Opening reads the set index and the global index. Parts are opened when somebody reads from them, or all at once for verifying.
import { type ByteRange, type ByteSource, checkRange, sliceSource, toHex } from '../../bytes/index.js'
import { digestOf } from '../../digest/index.js'
import { TareError } from '../../errors/index.js'
import type { MetaValue, Model, Part, Payload, ReadContext, Tensor } from '../../model/index.js'
import { sameBytes } from './chunk.js'
import { setCodes } from './codes.js'
import { neededBytes } from './dtypes.js'
import { type AeroFile, containerKind, fileOf, type TensorTable } from './file.js'
import { toMeta, toPlain } from './meta-json.js'
import { readFile } from './read.js'
import { messageOf, type OpenPart, openSetFile, SetParts } from './set-files.js'
import { knownKeys, parseSetIndex, type SetFile, type SetIndex } from './set-json.js'

export const setKind = 'aeroset.container'
export const setExtraKind = 'aeroset.extra'

/** What is known of a set beyond the model. */
export interface AeroSet {
  readonly source: ByteSource
  readonly bytes: Uint8Array
  readonly index: SetIndex
  readonly global: Model
  readonly parts: SetParts
  /** The model as it was read. */
  readonly tensors: readonly Tensor[]
  readonly metadata: ReadonlyMap<string, MetaValue>
  /** Parts that could be read, when all were tried. */
  readonly opened: readonly (OpenPart | undefined)[] | undefined
  /** The part file that holds a tensor, and the tensor's position in it; opens the part. */
  locate(name: string): Promise<{ file: AeroFile; position: number }>
}

export const setOf = (model: Model): AeroSet | undefined =>
  model.parts.find((part) => part.kind === setKind)?.content as AeroSet | undefined

export async function readSet(source: ByteSource, context: ReadContext): Promise<Model> {
  const { report, limits, signal } = context
  if (source.size > limits.indexBytes) {
    const message = `an index of ${source.size} bytes is over the limit of ${limits.indexBytes}`
    report.fail(setCodes.json, { offset: 0, path: 'file', message })
  }
  const bytes = await source.read(0, source.size, { signal })
  const index = parseSetIndex(bytes, report)
  context.extents?.add({ file: source.name, offset: 0, length: source.size, path: 'index', kind: 'field' })
  const global = await readGlobal(index, source, context)
  const parts = new SetParts(index, source, context)
  const opened = report.strict && !context.extents ? undefined : await openAll(index, parts, context)
  const tensors = placeTensors(index, global, parts, opened, context)
  const metadata = mergeMetadata(index, global)
  const locate = locatorOf(index, global, parts, context)
  const set: AeroSet = { source, bytes: bytes.slice(), index, global, parts, tensors, metadata, opened, locate }
  return {
    format: 'aeroset',
    version: index.version,
    metadata,
    tensors,
    parts: [containerPart(set), ...keptParts(set)],
    files: [closingAll(source, parts), ...global.files, ...(opened ?? []).flatMap((part) => part?.model.files ?? [])],
  }
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

async function readGlobal(index: SetIndex, source: ByteSource, context: ReadContext): Promise<Model> {
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
    const digest = toHex(await digestOf('sha256', await file.read(0, file.size, { signal })))
    if (digest !== global.sha256) complainSha256(global, context)
  }
  return readFile(file, { ...context, report: report.forFile(file.name) })
}

export function checkSize(stated: SetFile, file: ByteSource, { report }: ReadContext): void {
  if (stated.size === undefined || stated.size === file.size) return
  const message = `${JSON.stringify(stated.path)} has ${file.size} bytes, the set index states ${stated.size}`
  report.report(setCodes.size, { offset: 0, path: `${stated.where}.size_bytes`, message })
}

export function complainSha256(stated: SetFile, { report }: ReadContext): void {
  const message = `${JSON.stringify(stated.path)} does not have the SHA-256 that the set index states`
  report.report(setCodes.sha256, { offset: 0, path: `${stated.where}.sha256`, message })
}

async function openAll(index: SetIndex, parts: SetParts, context: ReadContext): Promise<(OpenPart | undefined)[]> {
  const opened: (OpenPart | undefined)[] = []
  for (const [i, stated] of index.parts.entries()) {
    try {
      const part = await parts.open(i)
      opened.push(part)
      checkSize(stated, part.model.files[0]!, context)
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

function placeTensors(
  index: SetIndex,
  global: Model,
  parts: SetParts,
  opened: readonly (OpenPart | undefined)[] | undefined,
  context: ReadContext,
): Tensor[] {
  const { report } = context
  const partOf = mapShards(index, context)
  const { table } = fileOf(global)!
  const tensors: Tensor[] = []
  const seen = opened?.map(() => new Set<string>())
  for (const [i, tensor] of global.tensors.entries()) {
    const at = { file: global.files[0]!.name, offset: 0, path: `tensors[${table.entries[i]}]` }
    const part = partOf.get(table.shardIds[i]!)
    if (part === undefined) {
      const message = `${JSON.stringify(tensor.name)} is in shard ${table.shardIds[i]}, which no part of the set has`
      report.report(setCodes['shard-unmapped'], { ...at, message })
      continue
    }
    if (!opened) {
      const length = tensor.encoding ? neededBytes(tensor.encoding, tensor.shape)! : table.lengths[i]!
      tensors.push({ ...tensor, data: new PartPayload(parts, part, tensor, length, context) })
      continue
    }
    const place = opened[part]?.byName.get(tensor.name)
    seen![part]!.add(tensor.name)
    if (place !== undefined) compareEntries(table, i, fileOf(opened[part]!.model)!.table, place, context, at)
    else if (opened[part]) complainNotInPart(tensor, index.parts[part]!, context, at)
    tensors.push(place === undefined ? tensor : opened[part]!.model.tensors[place]!)
  }
  if (opened) reportExtra(index, opened, seen!, context)
  return tensors
}

function locatorOf(index: SetIndex, global: Model, parts: SetParts, { report }: ReadContext): AeroSet['locate'] {
  const { table } = fileOf(global)!
  let places: Map<string, number> | undefined
  return async (name) => {
    places ??= new Map(table.tensors.map((tensor, i) => [tensor.name, i]))
    const shard = table.shardIds[places.get(name) ?? -1]
    const number = index.parts.findIndex((each) => shard !== undefined && each.shards.includes(shard))
    const part = number < 0 ? undefined : await parts.open(number)
    const position = part?.byName.get(name)
    if (part && position !== undefined) return { file: fileOf(part.model)!, position }
    const message = `no part of the set holds ${JSON.stringify(name)}`
    return report.fail(setCodes['tensor-not-in-part'], { offset: 0, path: name, message })
  }
}

function mapShards(index: SetIndex, { report }: ReadContext): Map<number, number> {
  const partOf = new Map<number, number>()
  for (const [i, part] of index.parts.entries()) {
    for (const shard of part.shards) {
      if (partOf.has(shard)) {
        const message = `shard ${shard} is claimed by parts ${partOf.get(shard)} and ${i}`
        report.report(setCodes['shard-twice'], { offset: 0, path: `${part.where}.shards`, message })
      } else partOf.set(shard, i)
    }
  }
  return partOf
}

interface At {
  readonly file: string
  readonly offset: number
  readonly path: string
}

function complainNotInPart(tensor: Tensor, part: SetFile, { report }: ReadContext, at: At): void {
  const message = `${JSON.stringify(tensor.name)} should be in ${JSON.stringify(part.path)}, which does not list it`
  report.report(setCodes['tensor-not-in-part'], { ...at, message })
}

/** What the global index says about a tensor must be what its part says. */
function compareEntries(
  global: TensorTable,
  i: number,
  part: TensorTable,
  k: number,
  { report }: ReadContext,
  at: At,
): void {
  const tensor = global.tensors[i]!
  const own = part.tensors[k]!
  const [hash, ownHash] = [global.hashOf(i), part.hashOf(k)]
  const differences = [
    tensor.dtype.id !== own.dtype.id && `dtype ${tensor.dtype.id} and ${own.dtype.id}`,
    String(tensor.shape) !== String(own.shape) && `shape [${tensor.shape}] and [${own.shape}]`,
    global.lengths[i] !== part.lengths[k] && `data_len ${global.lengths[i]} and ${part.lengths[k]}`,
    hash && ownHash && !sameBytes(hash, ownHash) && 'different hash_b3',
  ].filter((difference) => typeof difference === 'string')
  if (differences.length === 0) return
  const message = `${JSON.stringify(tensor.name)} is described differently: ${differences.join(', ')}`
  report.report(setCodes['index-disagrees'], { ...at, message })
}

function reportExtra(
  index: SetIndex,
  opened: readonly (OpenPart | undefined)[],
  seen: readonly ReadonlySet<string>[],
  { report }: ReadContext,
): void {
  for (const [i, part] of opened.entries()) {
    for (const tensor of part?.model.tensors ?? []) {
      if (seen[i]!.has(tensor.name)) continue
      const message = `${JSON.stringify(index.parts[i]!.path)} holds ${JSON.stringify(tensor.name)}, which the global index does not place there`
      report.report(setCodes['tensor-extra'], { offset: 0, path: index.parts[i]!.where, message })
    }
  }
}

/** The bytes of a tensor in a part that is opened on the first read. */
class PartPayload implements Payload {
  readonly byteLength: number
  readonly #parts: SetParts
  readonly #part: number
  readonly #tensor: Tensor
  readonly #context: ReadContext
  #resolved: Payload | undefined

  constructor(parts: SetParts, part: number, tensor: Tensor, byteLength: number, context: ReadContext) {
    this.byteLength = byteLength
    this.#parts = parts
    this.#part = part
    this.#tensor = tensor
    this.#context = context
  }

  get origin(): ByteRange | undefined {
    return this.#resolved?.origin
  }

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    checkRange({ name: this.#tensor.name, size: this.byteLength }, offset, length)
    if (length === 0) return new Uint8Array(0)
    return (await this.#resolve()).read!(offset, length, signal)
  }

  async *chunks(window: number, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    if (this.byteLength > 0) yield* (await this.#resolve()).chunks(window, signal)
  }

  /** The payload in the part, which opens it. */
  async #resolve(): Promise<Payload> {
    if (this.#resolved) return this.#resolved
    const part = await this.#parts.open(this.#part)
    const place = part.byName.get(this.#tensor.name)
    const own = place === undefined ? undefined : part.model.tensors[place]
    const at = { file: this.#context.report.file, offset: 0, path: this.#tensor.name }
    if (!own?.data || own.data.byteLength !== this.byteLength) {
      const message = `part ${this.#part} of the set does not hold ${JSON.stringify(this.#tensor.name)} with ${this.byteLength} bytes`
      return this.#context.report.fail(setCodes['tensor-not-in-part'], { ...at, message })
    }
    this.#resolved = own.data
    return own.data
  }
}

function mergeMetadata({ root }: SetIndex, global: Model): Map<string, MetaValue> {
  const metadata = new Map(global.metadata)
  const model = root.get('model')
  if (!(model instanceof Map)) return metadata
  for (const [key, node] of model) {
    const name = key === 'name' ? 'model_name' : key
    if (!metadata.has(name) && node !== '') metadata.set(name, toMeta(node))
  }
  return metadata
}

function containerPart(set: AeroSet): Part {
  const { index } = set
  const files = [...index.parts, index.global].map(({ path, size }) => ({ path, size: size ?? null }))
  return {
    kind: setKind,
    sharing: 'derived',
    value: { version: index.version, files: files.slice(0, 256) },
    content: set,
  }
}

/** Keys that tare does not write by itself, and what the global index carries beside its tensors. */
function keptParts({ index, global }: AeroSet): Part[] {
  const extra = new Map([...index.root].filter(([key]) => !knownKeys.has(key)))
  const parts = global.parts.filter((part) => part.kind !== containerKind)
  if (extra.size === 0) return parts
  return [...parts, { kind: setExtraKind, sharing: 'private', value: toPlain(extra) }]
}
