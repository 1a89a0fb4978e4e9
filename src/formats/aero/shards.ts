// Weight shards (WTSH): tensors one after another, in the order of the model. A tensor opens a new shard when the current one would grow
// beyond the limit; one that is larger than the limit gets a shard of its own. Tensors that have the same payload, or are the same bytes of
// the same file, are stored once.
import { alignUp, type ByteSource } from '../../bytes/index.js'
import { failWith, usageCodes } from '../../errors/index.js'
import {
  lazyPayload,
  type Payload,
  type Slot,
  type Tensor,
  type TensorList,
  type WriteOptions,
} from '../../model/index.js'
import { digestSlot, type Track, type WorkerPool } from '../../pool/index.js'
import { HashedSequence } from './hashed-sequence.js'
import { pageCount } from './phsh.js'
import { shardName } from './structs.js'

export const defaultShardSize = 2 ** 31

export interface Placement {
  readonly tensor: Tensor
  readonly shard: number
  readonly offset: number
  readonly length: number
  /** Position among the stored tensors of its shard; tied tensors share it. */
  readonly stored: number
}

export interface ShardPlan {
  readonly id: number
  readonly size: number
  /** What is stored, in order. */
  readonly stored: readonly Placement[]
  /** Tensors that lie here, tied ones included. */
  readonly tensorCount: number
}

export interface WeightPlan {
  readonly shards: readonly ShardPlan[]
  /** One for each tensor of the model, in its order. */
  readonly placements: readonly Placement[]
}

interface OpenShard {
  readonly id: number
  size: number
  readonly stored: Placement[]
  tensorCount: number
}

export function planShards(tensors: TensorList, limit: number, alignment: number): WeightPlan {
  const shards: OpenShard[] = []
  const placements: Placement[] = []
  const known: Known = { payloads: new Map(), ranges: new Map() }
  for (const tensor of tensors) {
    const length = tensor.data?.byteLength ?? 0
    const tied = length > 0 ? tiedTo(tensor, known) : undefined
    if (tied) {
      shards[tied.shard]!.tensorCount++
      placements.push({ ...tied, tensor })
      continue
    }
    let shard = shards.at(-1)
    if (!shard || (shard.size > 0 && alignUp(shard.size, alignment) + length > limit)) {
      shard = { id: shards.length, size: 0, stored: [], tensorCount: 0 }
      shards.push(shard)
    }
    const offset = alignUp(shard.size, alignment)
    const placement: Placement = { tensor, shard: shard.id, offset, length, stored: shard.stored.length }
    shard.stored.push(placement)
    shard.tensorCount++
    shard.size = offset + length
    placements.push(placement)
    remember(placement, known)
  }
  return { shards, placements }
}

interface Known {
  readonly payloads: Map<Payload, Placement>
  readonly ranges: Map<ByteSource, Map<number, Placement>>
}

function tiedTo({ data }: Tensor, known: Known): Placement | undefined {
  const origin = data?.origin
  if (!origin) return data ? known.payloads.get(data) : undefined
  const placement = known.ranges.get(origin.source)?.get(origin.offset)
  return placement?.length === origin.length ? placement : undefined
}

function remember(placement: Placement, { payloads, ranges }: Known): void {
  const { data } = placement.tensor
  if (!data || placement.length === 0) return
  const origin = data.origin
  if (!origin) {
    payloads.set(data, placement)
    return
  }
  const places = ranges.get(origin.source)
  if (!places) ranges.set(origin.source, new Map([[origin.offset, placement]]))
  else if (!places.has(origin.offset)) places.set(origin.offset, placement)
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
const mostPages = 2 ** 20

/** The shards of a plan with their hashes to come. */
export function shardContents(
  { shards }: WeightPlan,
  wishes: HashWishes,
  { name, pool }: WriteOptions,
): ShardContent[] {
  return shards.map((plan) => {
    const pages = wishes.pageSize === undefined ? 0 : pageCount(plan.size, wishes.pageSize)
    if (pages > mostPages) {
      const message = `--page-hashes: ${shardName(plan.id)} would have ${pages} pages of ${wishes.pageSize} bytes, ${mostPages} are the most; larger pages or smaller shards are needed`
      failWith(usageCodes.option, { file: name, message })
    }
    return new ShardContent(plan, wishes, pool)
  })
}

/** The content of a shard on its way to a file. */
export class ShardContent {
  readonly plan: ShardPlan
  readonly #wishes: HashWishes
  readonly #sequence: HashedSequence

  constructor(plan: ShardPlan, wishes: HashWishes, pool?: WorkerPool) {
    this.plan = plan
    this.#wishes = wishes
    this.#sequence = new HashedSequence(payloadsOf(plan), tracksOf(plan, wishes), pool)
  }

  get name(): string {
    return shardName(this.plan.id)
  }

  *slots(): Generator<Slot, void, void> {
    let i = 0
    for (const { payload, tensor } of itemsOf(this.plan)) {
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
}

interface Item {
  readonly payload: Payload
  /** Undefined: it is filler between tensors. */
  readonly tensor?: Tensor
}

/** What a shard consists of. There can be a million items, so they are made when somebody goes through them. */
function* itemsOf({ stored }: ShardPlan): Generator<Item, void, void> {
  let reached = 0
  for (const { tensor, offset, length } of stored) {
    if (offset > reached) yield { payload: zeros(offset - reached) }
    yield { payload: tensor.data ?? zeros(0), tensor }
    reached = offset + length
  }
}

const payloadsOf = (plan: ShardPlan): Iterable<Payload> => ({
  *[Symbol.iterator]() {
    for (const { payload } of itemsOf(plan)) yield payload
  },
})

/** In the order in which `hashes` takes them. */
function tracksOf({ stored, size }: ShardPlan, { tensors, pageSize }: HashWishes): Track[] {
  const track = (count: number, range: (i: number) => readonly [start: number, end: number]): Track => {
    const [starts, ends] = [new Float64Array(count), new Float64Array(count)]
    for (let i = 0; i < count; i++) [starts[i], ends[i]] = range(i)
    return { algorithm: 'blake3', starts, ends }
  }
  const tracks: Track[] = []
  if (tensors) tracks.push(track(stored.length, (i) => [stored[i]!.offset, stored[i]!.offset + stored[i]!.length]))
  if (pageSize !== undefined) {
    tracks.push(track(pageCount(size, pageSize), (i) => [i * pageSize, Math.min((i + 1) * pageSize, size)]))
  }
  return [...tracks, track(1, () => [0, size])]
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
