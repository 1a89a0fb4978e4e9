// Writing a set: the index as JSON, the global tensor index, and parts with a few weight shards each. Shards are numbered over the whole
// set, inside the parts too, so that a shard has the same name everywhere.
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
import type { RunThreads, Track } from '../../../threads/index.js'
import { isObject } from '../file.js'
import { type ContentPlan, keptChunks, layoutContent, quantsOf } from '../write/content.js'
import { HashedSequence } from '../write/hashed-sequence.js'
import { namesToWrite } from '../write/names.js'
import { type Choices, chooseOptions } from '../write/options.js'
import { planShards, type ShardContent, shardContents } from '../write/shards.js'
import { randomUuid } from '../write/uuid.js'
import { copyOf, isUntouched, prefixOf } from './copy-set.js'
import { setExtraKind, setOf } from './read-set.js'
import { knownKeys } from './set-json.js'

export async function layoutSet(model: Model, options: WriteOptions): Promise<Layout> {
  const set = setOf(model)
  if (set && isUntouched(model, set, options)) return copyOf(set, options)
  const choices = chooseOptions(options)
  const weights = planShards(model.tensors, choices.shardSize, choices.alignment)
  const wanted = { tensors: choices.tensorHashes, pageSize: choices.pageSize }
  const shards = shardContents(weights.shards, wanted, options)
  const names = await namesToWrite(model, options, 'aeroset')
  const prefix = prefixOf(options.name)
  // A uuid that was requested is that of the whole set; otherwise every file has its own.
  const isShared = options.extra?.uuid !== undefined || options.deterministic === true
  const choose = (): Choices => (isShared ? choices : { ...choices, uuid: randomUuid() })
  const common = { names, quants: quantsOf(model), hashFirst: true }

  // A part knows its own tensors only; what goes along with the model is in the global index.
  const bare: Model = { ...model, parts: [] }
  const parts: WrittenPart[] = []
  for (let first = 0; first < shards.length; first += choices.partShards) {
    const own = shards.slice(first, first + choices.partShards)
    const ownPlans = new Set(own.map((shard) => shard.plan))
    const plan: ContentPlan = {
      ...common,
      name: `${prefix}part-${String(parts.length).padStart(3, '0')}.aero`,
      tensors: weights.tensors.filter(({ stored }) => ownPlans.has(stored.shard)),
      shards: own,
      stored: own,
      kept: [],
    }
    parts.push({ file: new HashedFile(await layoutContent(bare, plan, choose()), options.threads), shards: own })
  }
  const plan: ContentPlan = {
    ...common,
    name: `${prefix}index.aero`,
    tensors: weights.tensors,
    shards,
    stored: [],
    kept: keptChunks(model.parts),
  }
  const global = new HashedFile(await layoutContent(model, plan, choose()), options.threads)
  const index = indexFile(options.name, model, names, parts, global)
  return { files: [index, ...parts.map(({ file }) => file.layout), global.layout] }
}

interface WrittenPart {
  readonly file: HashedFile
  readonly shards: readonly ShardContent[]
}

/** A file whose SHA-256 is known when it has been written. */
class HashedFile {
  readonly name: string
  readonly size: number
  readonly layout: FileLayout
  readonly #sequence: HashedSequence

  constructor(file: FileLayout, threads: RunThreads | undefined) {
    this.name = file.name
    this.size = fileLength(file)
    const whole: Track = { algorithm: 'sha256', starts: Float64Array.of(0), ends: Float64Array.of(this.size) }
    const sequence = new HashedSequence(Array.from(file.slots, payloadOf), [whole], threads)
    this.#sequence = sequence
    const slots = slotsMadeBy(function* () {
      let i = 0
      for (const slot of file.slots) {
        const plain = slot.kind === 'payload' ? (slot.plain ?? slot.payload) : payloadOf(slot)
        yield { kind: 'payload', path: slot.path, payload: sequence.payload(i++), plain }
      }
    })
    this.layout = { name: file.name, slots, isIndivisible: true }
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
  return { name, slots: [{ kind: 'payload', path: 'index', payload }], isIndivisible: true }
}

function encodeSet(
  model: Model,
  names: ModelNames,
  parts: readonly WrittenPart[],
  global: HashedFile,
  digestOf: (file: HashedFile) => string,
): string {
  const kept = model.parts.find((part) => part.kind === setExtraKind)?.value
  // Another container may have carried them; they must not replace what the set says about its own files.
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
