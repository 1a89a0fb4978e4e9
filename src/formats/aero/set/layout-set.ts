// Writing a set: the index as JSON, the global tensor index, and parts with a few weight shards each. Shards are numbered over the whole
// set, inside the parts too, so that a shard has one name wherever somebody looks for it.
import { encodeUtf8, toHex } from '../../../bytes/index.js'
import {
  bytesPayload,
  type FileLayout,
  fileLength,
  type Layout,
  type Model,
  type ModelNames,
  type Payload,
  type Slot,
  slotsMadeBy,
  type WriteOptions,
} from '../../../model/index.js'
import type { Track, WorkerPool } from '../../../threads/index.js'
import { isObject } from '../index/manifest.js'
import { keptChunks, layoutContent, quantsOf } from '../layout.js'
import { HashedSequence } from '../write/hashed-sequence.js'
import { namesToWrite } from '../write/names.js'
import { type Choices, chooseOptions } from '../write/options.js'
import { planShards, type ShardContent, type ShardPlan, shardContents, type WeightPlan } from '../write/shards.js'
import { randomUuid } from '../write/uuid.js'
import type { QuantTable } from '../write/write-tidx.js'
import { copyOf, isUntouched, prefixOf } from './copy-set.js'
import { setExtraKind, setOf } from './read-set.js'
import { knownKeys } from './set-json.js'

export async function layoutSet(model: Model, options: WriteOptions): Promise<Layout> {
  const set = setOf(model)
  if (set && isUntouched(model, set, options)) return copyOf(set, options)
  const choices = chooseOptions(options)
  const weights = planShards(model.tensors, choices.shardSize, choices.alignment)
  const wishes = { tensors: choices.tensorHashes, pageSize: choices.pageSize }
  const shards = shardContents(weights, wishes, options)
  const quants = quantsOf(model)
  const names = await namesToWrite(model, options, 'aeroset')
  const prefix = prefixOf(options.name)
  // A uuid that was asked for is that of the whole set; otherwise every file has its own.
  const isShared = options.extra?.uuid !== undefined || options.deterministic === true
  const choose = (): Choices => (isShared ? choices : { ...choices, uuid: randomUuid() })
  const parts: { readonly file: HashedFile; readonly shards: readonly ShardContent[] }[] = []
  for (let first = 0; first < shards.length; first += choices.partShards) {
    const own = shards.slice(first, first + choices.partShards)
    const name = `${prefix}part-${String(parts.length).padStart(3, '0')}.aero`
    parts.push({
      file: new HashedFile(await layoutPart(model, name, names, quants, own, weights, choose()), options.pool),
      shards: own,
    })
  }
  const global = new HashedFile(
    await layoutContent(
      model,
      {
        name: `${prefix}index.aero`,
        names,
        quants,
        weights,
        members: undefined,
        shards,
        stored: [],
        kept: keptChunks(model.parts),
        hashFirst: true,
      },
      choose(),
    ),
    options.pool,
  )
  const index = indexFile(options.name, model, names, parts, global)
  return { files: [index, ...parts.map(({ file }) => file.layout), global.layout] }
}

/** A part knows its own tensors only; what goes along with the model is in the global index. */
function layoutPart(
  model: Model,
  name: string,
  names: ModelNames,
  quants: QuantTable,
  shards: readonly ShardContent[],
  weights: WeightPlan,
  choices: Choices,
): Promise<FileLayout> {
  const members = membersOf(weights, shards[0]!.plan, shards.at(-1)!.plan)
  const plan = { name, names, quants, weights, members, shards, stored: shards, kept: [], hashFirst: true }
  return layoutContent({ ...model, parts: [] }, plan, choices)
}

/** The tensors that lie in shards from the first to the last, by their positions. */
function membersOf({ stored }: WeightPlan, first: ShardPlan, last: ShardPlan): Uint32Array {
  const members = new Uint32Array(stored.length)
  const end = last.before + last.starts.length
  let count = 0
  for (let i = 0; i < stored.length; i++) {
    if (stored[i]! >= first.before && stored[i]! < end) members[count++] = i
  }
  return members.slice(0, count)
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
    let count = 0
    for (const _ of file.slots) count++
    const items = { [Symbol.iterator]: () => payloadsOf(file.slots) }
    const sequence = new HashedSequence({ items, count, length: this.size }, [whole], pool)
    this.#sequence = sequence
    const slots = slotsMadeBy(function* () {
      let i = 0
      for (const slot of file.slots) {
        yield { kind: 'payload', path: slot.path, payload: sequence.payload(i++, payloadOf(slot)) }
      }
    })
    this.layout = { name: file.name, slots }
  }

  async sha256(signal?: AbortSignal): Promise<string> {
    return toHex((await this.#sequence.result(signal))[0]!)
  }
}

function* payloadsOf(slots: Iterable<Slot>): Generator<Payload, void, void> {
  for (const slot of slots) yield payloadOf(slot)
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

function indexFile(
  name: string,
  model: Model,
  names: ModelNames,
  parts: readonly WrittenPart[],
  global: HashedFile,
): FileLayout {
  const text = (digestOf: (file: HashedFile) => string): Uint8Array =>
    encodeUtf8(encodeSet(model, names, parts, global, digestOf))
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
  names: ModelNames,
  parts: readonly WrittenPart[],
  global: HashedFile,
  digestOf: (file: HashedFile) => string,
): string {
  const kept = model.parts.find((part) => part.kind === setExtraKind)?.value
  // They may have come from anywhere, and must not take the place of what the set says about its own files.
  const extra = Object.fromEntries(Object.entries(isObject(kept) ? kept : {}).filter(([key]) => !knownKeys.has(key)))
  const describe = (file: HashedFile) => ({ path: file.name, sha256: digestOf(file), size_bytes: file.size })
  const root = {
    format: { name: 'AEROSET', version: [0, Object.hasOwn(extra, 'cache') ? 2 : 1] },
    model: names,
    parts: parts.map(({ file, shards }) => ({ ...describe(file), shards: shards.map((shard) => shard.plan.id) })),
    global_tidx: describe(global),
    ...extra,
  }
  return JSON.stringify(root, null, 2)
}
