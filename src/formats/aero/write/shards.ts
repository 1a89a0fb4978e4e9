// Weight shards (WTSH): tensors one after another, in the order of the model. A tensor opens a new shard when the current one would grow
// beyond the limit; one that is larger than the limit gets a shard of its own. Tensors that have the same payload, or are the same bytes of
// the same file, are stored once.
import { alignUp, type ByteSource, type Range } from '../../../bytes/index.js'
import { callerWord, failWith, usageCodes } from '../../../errors/index.js'
import { lazyPayload, type Payload, type Slot, type Tensor, type WriteOptions } from '../../../model/index.js'
import { digestSlot, type RunThreads, type Track } from '../../../threads/index.js'
import { pageCount } from '../hash/phsh.js'
import { shardName } from '../structs.js'
import { HashedSequence } from './hashed-sequence.js'

export const defaultShardSize = 2 ** 31

/** Bytes that are stored in a shard, and where in it. */
export interface Stored extends Range {
  readonly shard: ShardPlan
  /** Position in the shard. */
  readonly number: number
  /** The first of the tensors that are these bytes. */
  readonly tensor: Tensor
}

export interface ShardPlan {
  readonly id: number
  size: number
  readonly stored: Stored[]
  /** Tensors that lie here, tied ones included. */
  tensorCount: number
}

/** A tensor and its bytes, which it shares with the tensors that it is tied to. */
export interface PlannedTensor {
  readonly tensor: Tensor
  readonly stored: Stored
}

export interface WeightPlan {
  readonly tensors: readonly PlannedTensor[]
  readonly shards: readonly ShardPlan[]
}

export function planShards(tensors: readonly Tensor[], limit: number, alignment: number): WeightPlan {
  const shards: ShardPlan[] = []
  const shared = new SharedBytes()
  const planned = tensors.map((tensor): PlannedTensor => {
    const length = tensor.data?.byteLength ?? 0
    const tied = shared.find(tensor)
    if (tied) {
      tied.shard.tensorCount++
      return { tensor, stored: tied }
    }
    let shard = shards.at(-1)
    if (!shard || (shard.size > 0 && alignUp(shard.size, alignment) + length > limit)) {
      shard = { id: shards.length, size: 0, stored: [], tensorCount: 0 }
      shards.push(shard)
    }
    const start = alignUp(shard.size, alignment)
    const stored: Stored = { start, end: start + length, shard, number: shard.stored.length, tensor }
    shard.size = stored.end
    shard.tensorCount++
    shard.stored.push(stored)
    shared.add(stored)
    return { tensor, stored }
  })
  return { tensors: planned, shards }
}

/** Finds tensors that are the same bytes: those that have the same payload, or the same range of the same file. */
class SharedBytes {
  /** By file and offset; of tensors that begin at one place the first counts. */
  readonly #ranges = new Map<ByteSource, Map<number, Stored>>()
  readonly #payloads = new Map<Payload, Stored>()

  find({ data }: Tensor): Stored | undefined {
    if (!data || data.byteLength === 0) return undefined
    const { origin } = data
    const first = origin ? this.#ranges.get(origin.source)?.get(origin.offset) : this.#payloads.get(data)
    return first && first.end - first.start === data.byteLength ? first : undefined
  }

  add(stored: Stored): void {
    const { data } = stored.tensor
    if (!data || data.byteLength === 0) return
    const { origin } = data
    if (!origin) {
      this.#payloads.set(data, stored)
      return
    }
    const offsets = this.#ranges.get(origin.source) ?? new Map<number, Stored>()
    this.#ranges.set(origin.source, offsets)
    if (!offsets.has(origin.offset)) offsets.set(origin.offset, stored)
  }
}

export interface ShardHashes {
  /** One after another, by position in the shard; empty where they are not wanted. */
  readonly tensors: Uint8Array
  readonly pages: readonly Uint8Array[]
  readonly whole: Uint8Array
}

export interface WantedHashes {
  readonly tensors: boolean
  /** Undefined: no page hashes. */
  readonly pageSize: number | undefined
}

/** A page takes memory while it is written and while it is read, however short it is. This is 2 GiB in pages of 2 KiB. */
const maxPages = 2 ** 20

/** The shards of a plan with their hashes to come. */
export function shardContents(
  plans: readonly ShardPlan[],
  wanted: WantedHashes,
  options: WriteOptions,
): ShardContent[] {
  return plans.map((plan) => {
    const pages = wanted.pageSize === undefined ? 0 : pageCount(plan.size, wanted.pageSize)
    if (pages > maxPages) {
      const message = `${callerWord('--page-hashes', 'page-hashes')}: ${shardName(plan.id)} would have ${pages} pages of ${wanted.pageSize} bytes, the maximum is ${maxPages}; larger pages or smaller shards are needed`
      failWith(usageCodes.option, { file: options.name, message })
    }
    return new ShardContent(plan, wanted, options.threads)
  })
}

/** The content of a shard on its way to a file. */
export class ShardContent {
  readonly plan: ShardPlan
  readonly #wanted: WantedHashes
  readonly #sequence: HashedSequence

  constructor(plan: ShardPlan, wanted: WantedHashes, threads?: RunThreads) {
    this.plan = plan
    this.#wanted = wanted
    const payloads = Array.from(this.#items(), ({ payload }) => payload)
    this.#sequence = new HashedSequence(payloads, tracksOf(plan, wanted), threads)
  }

  get name(): string {
    return shardName(this.plan.id)
  }

  *slots(): Generator<Slot, void, void> {
    let i = 0
    for (const { payload, tensor } of this.#items()) {
      const path = tensor ? `data[${JSON.stringify(tensor.name)}]` : `${this.name}.filler`
      yield { kind: 'payload', path, payload: this.#sequence.payload(i++), plain: payload }
    }
  }

  async hashes(signal?: AbortSignal): Promise<ShardHashes> {
    const { tensors, pageSize } = this.#wanted
    const found = [...(await this.#sequence.result(signal))]
    return {
      tensors: tensors ? found.shift()! : new Uint8Array(0),
      pages: pageSize === undefined ? [] : digestsIn(found.shift()!),
      whole: digestAt(found.shift()!, 0),
    }
  }

  /** The ranges of the tensors, for a shard that begins at this offset of the file. */
  tensorTrack(offset: number): Track {
    return trackOf(this.plan.stored, offset)
  }

  /** The same for pages. */
  pageTrack(pageSize: number, offset: number): Track {
    return trackOf(pagesOf(this.plan.size, pageSize), offset)
  }

  /** Tensors and the filler between them, which has none. */
  *#items(): Generator<{ payload: Payload; tensor?: Tensor }, void, void> {
    let reached = 0
    for (const { start, end, tensor } of this.plan.stored) {
      if (start > reached) yield { payload: zeros(start - reached) }
      yield { payload: tensor.data ?? zeros(0), tensor }
      reached = end
    }
  }
}

/** In the order in which `hashes` takes them. */
function tracksOf({ stored, size }: ShardPlan, { tensors, pageSize }: WantedHashes): Track[] {
  const tracks: Track[] = []
  if (tensors) tracks.push(trackOf(stored))
  if (pageSize !== undefined) tracks.push(trackOf(pagesOf(size, pageSize)))
  return [...tracks, trackOf([{ start: 0, end: size }])]
}

export const trackOf = (ranges: readonly Range[], offset = 0): Track => ({
  algorithm: 'blake3',
  starts: Float64Array.from(ranges, ({ start }) => offset + start),
  ends: Float64Array.from(ranges, ({ end }) => offset + end),
})

const pagesOf = (size: number, pageSize: number): Range[] =>
  Array.from({ length: pageCount(size, pageSize) }, (_, i) => ({
    start: i * pageSize,
    end: Math.min((i + 1) * pageSize, size),
  }))

export const digestAt = (digests: Uint8Array, i: number): Uint8Array =>
  digests.subarray(i * digestSlot, (i + 1) * digestSlot)

export const digestsIn = (digests: Uint8Array): Uint8Array[] =>
  Array.from({ length: digests.byteLength / digestSlot }, (_, i) => digestAt(digests, i))

function zeros(length: number): Payload {
  return lazyPayload(length, async function* () {
    const block = new Uint8Array(Math.min(length, 65_536))
    for (let left = length; left > 0; left -= block.byteLength) yield block.subarray(0, left)
  })
}
