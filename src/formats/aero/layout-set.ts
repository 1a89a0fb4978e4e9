// Writing a set: the index as JSON, the global tensor index, and parts with a few weight shards each. Shards are numbered over the whole
// set, inside the parts too, so that a shard has one name wherever somebody looks for it.
import { encodeUtf8, isPlainFileName, toHex } from '../../bytes/index.js'
import { strictReport } from '../../errors/index.js'
import {
  bytesPayload,
  defaultLimits,
  type FileLayout,
  fileLength,
  type JsonValue,
  type Layout,
  type Model,
  type Payload,
  rangePayload,
  type Slot,
  type WriteOptions,
} from '../../model/index.js'
import type { Track, WorkerPool } from '../../pool/index.js'
import { HashedSequence } from './hashed-sequence.js'
import { areSameEntries, keptChunks, layoutContent } from './layout.js'
import { isObject, modelNames } from './manifest.js'
import { asksForLayout, type Choices, chooseOptions } from './options.js'
import { type AeroSet, setExtraKind, setOf } from './read-set.js'
import { openSetFile } from './set-files.js'
import { planShards, type ShardContent, shardContents, type WeightPlan } from './shards.js'
import { randomUuid } from './uuid.js'

const suffix = /\.aeroset\.json$/i

export async function layoutSet(model: Model, options: WriteOptions): Promise<Layout> {
  const set = setOf(model)
  if (set && isUntouched(model, set, options)) return copyOf(set, options)
  const choices = chooseOptions(options)
  const weights = planShards(model.tensors, choices.shardSize, choices.alignment)
  const wishes = { tensors: choices.tensorHashes, pageSize: choices.pageSize }
  const shards = shardContents(weights, wishes, options)
  const prefix = prefixOf(options.name)
  // A uuid that was asked for is that of the whole set; otherwise every file has its own.
  const isShared = options.extra?.uuid !== undefined || options.deterministic === true
  const choose = (): Choices => (isShared ? choices : { ...choices, uuid: randomUuid() })
  const parts: { readonly file: HashedFile; readonly shards: readonly ShardContent[] }[] = []
  for (let first = 0; first < shards.length; first += choices.partShards) {
    const own = shards.slice(first, first + choices.partShards)
    const name = `${prefix}part-${String(parts.length).padStart(3, '0')}.aero`
    parts.push({
      file: new HashedFile(await layoutPart(model, name, own, weights, choose()), options.pool),
      shards: own,
    })
  }
  const global = new HashedFile(
    await layoutContent(
      model,
      {
        name: `${prefix}index.aero`,
        placements: weights.placements,
        shards,
        weights: [],
        kept: keptChunks(model.parts),
        hashFirst: true,
      },
      choose(),
    ),
    options.pool,
  )
  const index = indexFile(options.name, model, parts, global)
  return { files: [index, ...parts.map(({ file }) => file.layout), global.layout] }
}

/** Sets under other names than `model` can share a directory. */
function prefixOf(name: string): string {
  const stem = name.replace(suffix, '')
  return stem === 'model' || stem === '' ? '' : `${stem}.`
}

/** A part knows its own tensors only; what goes along with the model is in the global index. */
function layoutPart(
  model: Model,
  name: string,
  shards: readonly ShardContent[],
  { placements }: WeightPlan,
  choices: Choices,
): Promise<FileLayout> {
  const ids = new Set(shards.map((shard) => shard.plan.id))
  const own = placements.filter((placement) => ids.has(placement.shard))
  const plan = { name, placements: own, shards, weights: shards, kept: [], hashFirst: true }
  return layoutContent({ ...model, parts: [] }, plan, choices)
}

/** A file whose SHA-256 is known when it has been written. */
class HashedFile {
  readonly name: string
  readonly size: number
  readonly layout: FileLayout
  readonly #sequence: HashedSequence

  constructor(file: FileLayout, pool: WorkerPool | undefined) {
    this.name = file.name
    this.size = fileLength(file)
    const whole: Track = { algorithm: 'sha256', starts: Float64Array.of(0), ends: Float64Array.of(this.size) }
    const own = Array.from(file.slots, (slot) => ({ path: slot.path, payload: payloadOf(slot) }))
    this.#sequence = new HashedSequence(
      own.map(({ payload }) => payload),
      [whole],
      pool,
    )
    const slots = own.map(
      ({ path, payload }, i): Slot => ({ kind: 'payload', path, payload: this.#sequence.payload(i, payload) }),
    )
    this.layout = { name: file.name, slots }
  }

  async sha256(signal?: AbortSignal): Promise<string> {
    return toHex((await this.#sequence.result(signal))[0]!)
  }
}

function payloadOf(slot: Slot): Payload {
  if (slot.kind === 'payload') return slot.payload
  if (slot.kind === 'bytes') return bytesPayload(slot.bytes)
  if (slot.kind === 'zeros') return bytesPayload(new Uint8Array(slot.length))
  throw new Error('a part of a set must be known in order')
}

interface WrittenPart {
  readonly file: HashedFile
  readonly shards: readonly ShardContent[]
}

const blankDigest = '0'.repeat(64)

function indexFile(name: string, model: Model, parts: readonly WrittenPart[], global: HashedFile): FileLayout {
  const text = (digestOf: (file: HashedFile) => string): Uint8Array =>
    encodeUtf8(encodeSet(model, parts, global, digestOf))
  const payload: Payload = {
    byteLength: text(() => blankDigest).byteLength,
    async *chunks(window, signal) {
      const digests = new Map<HashedFile, string>()
      for (const file of [...parts.map((part) => part.file), global]) digests.set(file, await file.sha256(signal))
      yield* bytesPayload(text((file) => digests.get(file)!)).chunks(window, signal)
    },
  }
  return { name, slots: [{ kind: 'payload', path: 'index', payload }] }
}

function encodeSet(
  model: Model,
  parts: readonly WrittenPart[],
  global: HashedFile,
  digestOf: (file: HashedFile) => string,
): string {
  const kept = model.parts.find((part) => part.kind === setExtraKind)?.value
  // Where the old parts were says nothing about the new ones.
  const { base_url: _, ...extra } = isObject(kept) ? kept : ({} as Record<string, JsonValue>)
  const describe = (file: HashedFile) => ({ path: file.name, sha256: digestOf(file), size_bytes: file.size })
  const root = {
    format: { name: 'AEROSET', version: [0, Object.keys(extra).includes('cache') ? 2 : 1] },
    model: modelNames(model.metadata),
    parts: parts.map(({ file, shards }) => ({ ...describe(file), shards: shards.map((shard) => shard.plan.id) })),
    global_tidx: describe(global),
    ...extra,
  }
  return JSON.stringify(root, null, 2)
}

/** Only files that lie beside the index can be copied under the same names. */
function isUntouched(model: Model, set: AeroSet, options: WriteOptions): boolean {
  const { index } = set
  const isLocal =
    index.baseUrl === undefined && [...index.parts, index.global].every(({ path }) => isPlainFileName(path))
  const sameTensors =
    model.tensors.length === set.tensors.length && model.tensors.every((tensor, i) => tensor === set.tensors[i])
  return isLocal && sameTensors && !asksForLayout(options) && areSameEntries(model.metadata, set.metadata)
}

async function copyOf(set: AeroSet, options: WriteOptions): Promise<Layout> {
  const { index, source } = set
  const context = { report: strictReport(source.name), limits: defaultLimits, lenient: false, signal: options.signal }
  const files: FileLayout[] = [{ name: options.name, slots: [{ kind: 'bytes', path: 'index', bytes: set.bytes }] }]
  const names = new Set<string>()
  for (const file of [...index.parts, index.global]) {
    if (names.has(file.path)) continue
    names.add(file.path)
    const opened = await openSetFile(file, index, source, context)
    files.push({
      name: file.path,
      slots: [{ kind: 'payload', path: 'file', payload: rangePayload(opened, 0, opened.size) }],
    })
  }
  return { files }
}
