// Writes the tensor index. With a hash in every entry it cannot be compressed, because its size must be known before the weights are;
// but the size of an entry does not depend on what its hash is. So it is stored plainly, behind the weights, and filled in when they
// have gone by.
import { packed } from '../../../dtypes/index.js'
import { failWith, writeCodes } from '../../../errors/index.js'
import { type JsonValue, lazyPayload, type Payload, type Tensor } from '../../../model/index.js'
import { MsgpackWriter } from '../../../wire/msgpack/index.js'
import { ggmlTypeIn, numberOfDType, packedAs, packedNumber } from '../dtypes.js'
import { isObject, type JsonObject } from '../index/manifest.js'
import { ownFieldsOf } from '../index/own-fields.js'
import { encodeTagged, writeTagged } from '../index/tagged.js'
import { digestSize } from '../structs.js'
import { digestAt, type ShardContent, type ShardPlan, shardOf, type WeightPlan } from './shards.js'

/** The quantization types in use, by their number in the list. */
export interface QuantTable {
  readonly descriptors: readonly JsonValue[]
  /** By ggml number. */
  readonly ids: ReadonlyMap<number, number>
}

/** Descriptors for all packed tensors; none when the metadata brings its own. */
export function planQuants(tensors: readonly Tensor[], hasOwn: boolean): QuantTable {
  const ids = new Map<number, number>()
  const descriptors: JsonValue[] = []
  for (const tensor of hasOwn ? [] : tensors) {
    const type = packedAs(tensor)
    if (!type || ids.has(type.number)) continue
    const id = descriptors.length
    ids.set(type.number, id)
    descriptors.push({ codec: 'ggml', id, params: { ggml_type: type.number }, quant_name: type.name })
  }
  return { descriptors, ids }
}

export interface IndexPlan {
  readonly weights: WeightPlan
  /** The tensors to be listed, by their positions; undefined: all. */
  readonly members: Uint32Array | undefined
  /** The shards that they are in. */
  readonly shards: readonly ShardContent[]
  readonly quants: QuantTable
  readonly withHashes: boolean
  /** Further keys beside `tensors`. */
  readonly extra: JsonObject | undefined
}

/** The keys of every entry, encoded once: a file can have a million of them. */
const keys = encodeKeys(['name', 'dtype', 'shape', 'shard_id', 'data_off', 'data_len', 'flags', 'hash_b3'])

function encodeKeys<K extends string>(names: readonly K[]): Readonly<Record<K, Uint8Array>> {
  return Object.fromEntries(names.map((name) => [name, encodeTagged(name)])) as Record<K, Uint8Array>
}

const blankHash = new Uint8Array(digestSize)
const flushSize = 1 << 20

/** The whole index; for those without hashes, which are compressed. */
export function encodeIndex(plan: IndexPlan): Uint8Array {
  const index = new Uint8Array(sizeOf(plan))
  let at = 0
  for (const piece of indexPieces(plan, () => blankHash)) {
    index.set(piece, at)
    at += piece.byteLength
  }
  return index
}

function sizeOf(plan: IndexPlan): number {
  let size = 0
  for (const piece of indexPieces(plan, () => blankHash)) size += piece.byteLength
  return size
}

/** The index as a payload of known length that asks for the hashes when it is read. */
export function indexPayload(plan: IndexPlan): Payload {
  return lazyPayload(sizeOf(plan), async function* (signal) {
    const hashes = new Map<number, Uint8Array>()
    for (const shard of plan.shards) hashes.set(shard.plan.id, (await shard.hashes(signal)).tensors)
    yield* indexPieces(plan, ({ id }, i) => digestAt(hashes.get(id)!, i))
  })
}

/** The hash of the tensor that is stored as number i of a shard. */
type HashOf = (shard: ShardPlan, i: number) => Uint8Array

function* indexPieces(plan: IndexPlan, hashOf: HashOf): Generator<Uint8Array, void, void> {
  const { extra, members } = plan
  const { tensors, stored } = plan.weights
  const shards = plan.shards.map((shard) => shard.plan)
  const count = members?.length ?? tensors.length
  const writer = new MsgpackWriter()
  writer.mapHeader(1 + Object.keys(extra ?? {}).length)
  writer.str('tensors')
  writer.arrayHeader(count)
  for (let k = 0; k < count; k++) {
    const i = members ? members[k]! : k
    writeEntry(writer, tensors.at(i)!, shardOf(shards, stored[i]!), stored[i]!, plan, hashOf)
    if (writer.length >= flushSize) yield writer.take()
  }
  for (const [key, value] of Object.entries(extra ?? {})) {
    writer.str(key)
    writeTagged(writer, value)
  }
  yield writer.take()
}

function writeEntry(
  writer: MsgpackWriter,
  tensor: Tensor,
  shard: ShardPlan,
  stored: number,
  { quants, withHashes }: IndexPlan,
  hashOf: HashOf,
): void {
  const i = stored - shard.before
  const { flags = 0, dtype, ...extra } = quantFields(tensor, quants)
  const more = Object.keys(extra)
  writer.mapHeader(7 + more.length + (withHashes ? 1 : 0))
  writer.raw(keys.name)
  writer.str(tensor.name)
  writer.raw(keys.dtype)
  writer.int(dtypeNumber(tensor, dtype))
  writer.raw(keys.shape)
  writer.arrayHeader(tensor.shape.length)
  for (const dim of tensor.shape) writer.int(dim)
  writer.raw(keys.shard_id)
  writer.int(shard.id)
  writer.raw(keys.data_off)
  writer.int(shard.starts[i]!)
  writer.raw(keys.data_len)
  writer.int(shard.ends[i]! - shard.starts[i]!)
  writer.raw(keys.flags)
  writeTagged(writer, flags)
  for (const key of more) {
    writer.str(key)
    writeTagged(writer, extra[key]!)
  }
  if (!withHashes) return
  writer.raw(keys.hash_b3)
  writer.hex(hashOf(shard, i))
}

const noFields: JsonObject = {}

/** What only AERO said about the tensor, with the quantization that it has now. */
function quantFields(tensor: Tensor, { ids }: QuantTable): JsonObject {
  const type = packedAs(tensor)
  if (!type && !tensor.extra) return noFields
  const extra = ownFieldsOf(tensor)
  const { quant_id: oldId, quant_params: oldParams, ...rest } = extra
  if (!type) return tensor.dtype !== packed && ggmlTypeIn(extra) ? rest : extra
  const id = ids.get(type.number) ?? oldId
  const params = isObject(oldParams) ? oldParams : {}
  return {
    ...(id !== undefined && { quant_id: id }),
    quant_params: { ...params, ggml_type: type.number },
    ...rest,
  }
}

/** The number of bytes that are no elements of their type, or have one that AERO does not define, was kept beside them. */
function dtypeNumber(tensor: Tensor, kept: JsonValue | undefined): number {
  if (packedAs(tensor)) return packedNumber
  const isKept = tensor.dtype === packed && Number.isSafeInteger(kept) && (kept as number) >= 0
  const number = isKept ? (kept as number) : numberOfDType(tensor.dtype)
  if (number !== undefined) return number
  const message = `AERO has no number for ${tensor.dtype.id}`
  return failWith(writeCodes['dtype-unsupported'], { file: '', path: tensor.name, message })
}
