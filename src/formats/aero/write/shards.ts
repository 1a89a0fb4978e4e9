// Weight shards (WTSH): tensors one after another, in the order of the model. A tensor opens a new shard when the current one would grow
// beyond the limit; one that is larger than the limit gets a shard of its own. Tensors that have the same payload, or are the same bytes of
// the same file, are stored once.

import { alignUp } from '../../../bytes/index.js'
import { lowerBound } from '../../../bytes/lower-bound.js'
import { failWith, usageCodes } from '../../../errors/index.js'
import { lazyPayload, type Payload, type Slot, type Tensor, type WriteOptions } from '../../../model/index.js'
import { digestSlot, type Track, type WorkerPool } from '../../../threads/index.js'
import { pageCount } from '../hash/phsh.js'
import { shardName } from '../structs.js'
import { HashedSequence } from './hashed-sequence.js'
import { findSharedBytes } from './shared-bytes.js'

export const defaultShardSize = 2 ** 31

export interface ShardPlan {
  readonly id: number
  readonly size: number
  /** Where in the shard each tensor that is stored there begins and ends. */
  readonly starts: Float64Array
  readonly ends: Float64Array
  /** How many are stored in the shards before. */
  readonly before: number
  /** Tensors that lie here, tied ones included. */
  readonly tensorCount: number
}

export interface WeightPlan {
  readonly tensors: readonly Tensor[]
  readonly shards: readonly ShardPlan[]
  /** For each tensor its number among all that are stored; tied tensors share it. */
  readonly stored: Uint32Array
  /** The other way round: the tensor that is stored. */
  readonly owners: Uint32Array
}

type OpenShard = { -readonly [K in 'id' | 'size' | 'before' | 'tensorCount']: ShardPlan[K] }

export function planShards(tensors: readonly Tensor[], limit: number, alignment: number): WeightPlan {
  const { lengths, firsts } = findSharedBytes(tensors)
  const stored = new Uint32Array(lengths.length)
  const owners = new Uint32Array(lengths.length)
  const starts = new Float64Array(lengths.length)
  // They take the places of lengths that are no longer wanted.
  const ends = lengths
  const shards: OpenShard[] = []
  let count = 0
  for (let i = 0; i < lengths.length; i++) {
    const first = firsts?.[i] ?? i
    if (first !== i) {
      stored[i] = stored[first]!
      shardOf(shards, stored[i]!).tensorCount++
      continue
    }
    const length = lengths[i]!
    let shard = shards.at(-1)
    if (!shard || (shard.size > 0 && alignUp(shard.size, alignment) + length > limit)) {
      shard = { id: shards.length, size: 0, before: count, tensorCount: 0 }
      shards.push(shard)
    }
    const offset = alignUp(shard.size, alignment)
    shard.size = offset + length
    shard.tensorCount++
    starts[count] = offset
    ends[count] = shard.size
    owners[count] = i
    stored[i] = count++
  }
  const plans = shards.map((shard, k): ShardPlan => {
    const next = shards[k + 1]?.before ?? count
    return { ...shard, starts: cut(starts, shard.before, next), ends: cut(ends, shard.before, next) }
  })
  return { tensors, shards: plans, stored, owners }
}

/** In memory of its own, since it goes to another thread as a whole. */
const cut = (list: Float64Array, start: number, end: number): Float64Array =>
  end - start === list.length ? list : list.slice(start, end)

/** The shard of a stored tensor, among some that lie one behind the other. */
export function shardOf<T extends Pick<ShardPlan, 'before'>>(shards: readonly T[], stored: number): T {
  return shards[lowerBound(shards.length, (k) => shards[k]!.before, stored + 1) - 1]!
}

export interface ShardHashes {
  /** One behind the other, by position among the stored tensors; nothing where they are not wanted. */
  readonly tensors: Uint8Array
  readonly pages: readonly Uint8Array[]
  readonly whole: Uint8Array
}

export interface HashWishes {
  readonly tensors: boolean
  /** Undefined: no page hashes. */
  readonly pageSize: number | undefined
}

/** A page takes memory while it is written and while it is read, however short it is: 2 GiB in pages of 2 KiB. */
const maxPages = 2 ** 20

/** The shards of a plan with their hashes to come. */
export function shardContents(weights: WeightPlan, wishes: HashWishes, { name, pool }: WriteOptions): ShardContent[] {
  return weights.shards.map((plan) => {
    const pages = wishes.pageSize === undefined ? 0 : pageCount(plan.size, wishes.pageSize)
    if (pages > maxPages) {
      const message = `--page-hashes: ${shardName(plan.id)} would have ${pages} pages of ${wishes.pageSize} bytes, ${maxPages} are the most; larger pages or smaller shards are needed`
      failWith(usageCodes.option, { file: name, message })
    }
    return new ShardContent(weights, plan, wishes, pool)
  })
}

/** The content of a shard on its way to a file. */
export class ShardContent {
  readonly plan: ShardPlan
  readonly #weights: WeightPlan
  readonly #wishes: HashWishes
  readonly #sequence: HashedSequence

  constructor(weights: WeightPlan, plan: ShardPlan, wishes: HashWishes, pool?: WorkerPool) {
    this.plan = plan
    this.#weights = weights
    this.#wishes = wishes
    const { starts, ends, size } = plan
    const items = { [Symbol.iterator]: () => this.#payloads() }
    let count = starts.length
    for (let i = 0; i < starts.length; i++) if (starts[i]! > (ends[i - 1] ?? 0)) count++
    this.#sequence = new HashedSequence({ items, count, length: size }, tracksOf(plan, wishes), pool)
  }

  get name(): string {
    return shardName(this.plan.id)
  }

  *slots(): Generator<Slot, void, void> {
    let i = 0
    for (const { payload, tensor } of this.#items()) {
      const path = tensor ? `data[${JSON.stringify(tensor.name)}]` : `${this.name}.filler`
      yield { kind: 'payload', path, payload: this.#sequence.payload(i++, payload) }
    }
  }

  async hashes(signal?: AbortSignal): Promise<ShardHashes> {
    const { tensors, pageSize } = this.#wishes
    const found = [...(await this.#sequence.result(signal))]
    return {
      tensors: tensors ? found.shift()! : noDigest,
      pages: pageSize === undefined ? [] : digestsIn(found.shift()!),
      whole: digestAt(found.shift()!, 0),
    }
  }

  /** What the shard consists of. There can be a million items, so they are made when somebody goes through them. */
  *#items(): Generator<Item, void, void> {
    const { starts, ends, before } = this.plan
    const { tensors, owners } = this.#weights
    let reached = 0
    for (let i = 0; i < starts.length; i++) {
      if (starts[i]! > reached) yield { payload: zeros(starts[i]! - reached) }
      const tensor = tensors.at(owners[before + i]!)!
      yield { payload: tensor.data ?? zeros(0), tensor }
      reached = ends[i]!
    }
  }

  *#payloads(): Generator<Payload, void, void> {
    for (const { payload } of this.#items()) yield payload
  }
}

interface Item {
  readonly payload: Payload
  /** Undefined: it is filler between tensors. */
  readonly tensor?: Tensor
}

/** In the order in which `hashes` takes them. */
function tracksOf({ starts, ends, size }: ShardPlan, { tensors, pageSize }: HashWishes): Track[] {
  const track = (count: number, length: number): Track => ({
    algorithm: 'blake3',
    starts: new Float64Array(count).map((_, i) => i * length),
    ends: new Float64Array(count).map((_, i) => Math.min((i + 1) * length, size)),
  })
  const tracks: Track[] = []
  if (tensors) tracks.push({ algorithm: 'blake3', starts, ends })
  if (pageSize !== undefined) tracks.push(track(pageCount(size, pageSize), pageSize))
  return [...tracks, track(1, size)]
}

export const digestAt = (digests: Uint8Array, i: number): Uint8Array =>
  digests.subarray(i * digestSlot, (i + 1) * digestSlot)

const digestsIn = (digests: Uint8Array): Uint8Array[] =>
  Array.from({ length: digests.byteLength / digestSlot }, (_, i) => digestAt(digests, i))

function zeros(length: number): Payload {
  return lazyPayload(length, async function* () {
    const block = new Uint8Array(Math.min(length, 65_536))
    for (let left = length; left > 0; left -= block.byteLength) yield block.subarray(0, left)
  })
}

const noDigest = new Uint8Array(0)
