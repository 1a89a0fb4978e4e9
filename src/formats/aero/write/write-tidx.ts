// Writes the tensor index. With a hash in every entry it cannot be compressed, because its size must be known before the weights are;
// but the size of an entry does not depend on its hash. So the index is stored uncompressed, behind the weights, and filled in when those
// have been written.
import { joinBytes } from '../../../bytes/index.js'
import { packed } from '../../../dtypes/index.js'
import { failWith, writeCodes } from '../../../errors/index.js'
import { extraOwner } from '../../../model/extra-owner.js'
import { type JsonValue, lazyPayload, type Payload, type Tensor } from '../../../model/index.js'
import { MsgpackWriter } from '../../../wire/msgpack/index.js'
import { ggmlTypeIn, numberOfDType, packedAs, packedNumber } from '../dtypes.js'
import { isObject, type JsonObject } from '../file.js'
import { encodeTagged, isTagged, writeTagged } from '../index/tagged.js'
import { digestSize } from '../structs.js'
import { digestAt, type PlannedTensor, type ShardContent, type ShardPlan, type Stored } from './shards.js'

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
  /** The tensors to be listed. */
  readonly tensors: readonly PlannedTensor[]
  /** The shards that they are in. */
  readonly shards: readonly ShardContent[]
  readonly quants: QuantTable
  readonly withHashes: boolean
  /** Further keys beside `tensors`. */
  readonly extra: JsonObject | undefined
}

/** The keys of every entry, encoded once. */
const keys = encodeKeys(['name', 'dtype', 'shape', 'shard_id', 'data_off', 'data_len', 'flags', 'hash_b3'])

function encodeKeys<K extends string>(names: readonly K[]): Readonly<Record<K, Uint8Array>> {
  return Object.fromEntries(names.map((name) => [name, encodeTagged(name)])) as Record<K, Uint8Array>
}

const blankHash = new Uint8Array(digestSize)
const flushSize = 1 << 20

/** The whole index, for one without hashes, which is compressed. */
export const encodeIndex = (plan: IndexPlan): Uint8Array => joinBytes([...indexPieces(plan, () => blankHash)])

/** The index as a payload of known length that asks for the hashes when it is read. */
export function indexPayload(plan: IndexPlan): Payload {
  let size = 0
  for (const piece of indexPieces(plan, () => blankHash)) size += piece.byteLength
  return lazyPayload(size, async function* (signal) {
    const hashes = new Map<ShardPlan, Uint8Array>()
    for (const shard of plan.shards) hashes.set(shard.plan, (await shard.hashes(signal)).tensors)
    yield* indexPieces(plan, ({ shard, number }) => digestAt(hashes.get(shard)!, number))
  })
}

/** The same index, once the hashes of all shards are known; `digests` are those of the tensors of each. */
export function indexWith(plan: IndexPlan, digests: readonly Uint8Array[]): Uint8Array {
  const hashes = new Map(plan.shards.map((shard, i) => [shard.plan, digests[i]!]))
  return joinBytes([...indexPieces(plan, ({ shard, number }) => digestAt(hashes.get(shard)!, number))])
}

type HashOf = (stored: Stored) => Uint8Array

function* indexPieces(plan: IndexPlan, hashOf: HashOf): Generator<Uint8Array, void, void> {
  const { tensors, extra = {} } = plan
  const writer = new MsgpackWriter()
  writer.mapHeader(1 + Object.keys(extra).length)
  writer.str('tensors')
  writer.arrayHeader(tensors.length)
  for (const planned of tensors) {
    writeEntry(writer, planned, plan, hashOf)
    if (writer.length >= flushSize) yield writer.take()
  }
  for (const [key, value] of Object.entries(extra)) {
    writer.str(key)
    writeTagged(writer, value)
  }
  yield writer.take()
}

function writeEntry(
  writer: MsgpackWriter,
  { tensor, stored }: PlannedTensor,
  { quants, withHashes }: IndexPlan,
  hashOf: HashOf,
): void {
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
  writer.int(stored.shard.id)
  writer.raw(keys.data_off)
  writer.int(stored.start)
  writer.raw(keys.data_len)
  writer.int(stored.end - stored.start)
  writer.raw(keys.flags)
  writeTagged(writer, flags)
  for (const key of more) {
    writer.str(key)
    writeTagged(writer, extra[key]!)
  }
  if (!withHashes) return
  writer.raw(keys.hash_b3)
  writer.hex(hashOf(stored))
}

const noFields: JsonObject = {}

/** Fields that are written from the tensor itself. */
const written: ReadonlySet<string> = new Set(['name', 'shape', 'shard_id', 'data_off', 'data_len', 'hash_b3'])
const owners: readonly (string | undefined)[] = ['aero', 'aeroset']

/** The fields that AERO alone has for a tensor. Another container may have carried them, and a stranger may have put them there. */
function ownFieldsOf({ extra }: Tensor): JsonObject {
  if (!extra || !owners.includes(extraOwner(extra))) return noFields
  const isProper = ([key, value]: [string, JsonValue]): boolean => !written.has(key) && isTagged(value)
  return Object.fromEntries(Object.entries(extra).filter(isProper))
}

/** The fields that a tensor has beside those of every entry, with the quantization that it has now. */
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

/** Bytes that are no elements of their type, or of a type that AERO does not define, have its number beside them. */
function dtypeNumber(tensor: Tensor, kept: JsonValue | undefined): number {
  if (packedAs(tensor)) return packedNumber
  const isKept = tensor.dtype === packed && Number.isSafeInteger(kept) && (kept as number) >= 0
  const number = isKept ? (kept as number) : numberOfDType(tensor.dtype)
  if (number !== undefined) return number
  const message = `AERO has no number for ${tensor.dtype.id}`
  return failWith(writeCodes['dtype-unsupported'], { file: '', path: tensor.name, message })
}
