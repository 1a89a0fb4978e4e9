// Writes the tensor index. With a hash in every entry it cannot be compressed, because its size must be known before the weights are;
// but the size of an entry does not depend on what its hash is. So it is stored plainly, behind the weights, and filled in when they
// have gone by.
import { joinBytes } from '../../bytes/index.js'
import { packed } from '../../dtypes/index.js'
import { failWith, writeCodes } from '../../errors/index.js'
import { type JsonValue, lazyPayload, type Payload, type Tensor, type TensorList } from '../../model/index.js'
import { MsgpackWriter } from '../../wire/msgpack.js'
import { ggmlTypeIn, numberOfDType, packedAs, packedNumber } from './dtypes.js'
import { ownExtras } from './file.js'
import { isObject, type JsonObject } from './manifest.js'
import { digestAt, type Placement, type ShardContent } from './shards.js'
import { digestSize } from './structs.js'
import { encodeTagged, writeTagged } from './tagged.js'

/** The quantization types in use, by their number in the list. */
export interface QuantTable {
  readonly descriptors: readonly JsonValue[]
  /** By ggml number. */
  readonly ids: ReadonlyMap<number, number>
}

/** Descriptors for all packed tensors; none when the metadata brings its own. */
export function planQuants(tensors: TensorList, hasOwn: boolean): QuantTable {
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
  readonly placements: readonly Placement[]
  /** The shards that the placements are in. */
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
  return joinBytes([...indexPieces(plan, () => blankHash)])
}

/** The index as a payload of known length that asks for the hashes when it is read. */
export function indexPayload(plan: IndexPlan): Payload {
  let size = 0
  for (const piece of indexPieces(plan, () => blankHash)) size += piece.byteLength
  return lazyPayload(size, async function* (signal) {
    const hashes = new Map<number, Uint8Array>()
    for (const shard of plan.shards) hashes.set(shard.plan.id, (await shard.hashes(signal)).tensors)
    yield* indexPieces(plan, ({ shard, stored }) => digestAt(hashes.get(shard)!, stored))
  })
}

function* indexPieces(
  plan: IndexPlan,
  hashOf: (placement: Placement) => Uint8Array,
): Generator<Uint8Array, void, void> {
  const { extra, placements } = plan
  let writer = new MsgpackWriter()
  writer.mapHeader(1 + Object.keys(extra ?? {}).length)
  writer.str('tensors')
  writer.arrayHeader(placements.length)
  for (const placement of placements) {
    writeEntry(writer, placement, plan, hashOf)
    if (writer.length < flushSize) continue
    yield writer.finish()
    writer = new MsgpackWriter()
  }
  for (const [key, value] of Object.entries(extra ?? {})) {
    writer.str(key)
    writeTagged(writer, value)
  }
  yield writer.finish()
}

function writeEntry(
  writer: MsgpackWriter,
  placement: Placement,
  { quants, withHashes }: IndexPlan,
  hashOf: (placement: Placement) => Uint8Array,
): void {
  const { tensor } = placement
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
  writer.int(placement.shard)
  writer.raw(keys.data_off)
  writer.int(placement.offset)
  writer.raw(keys.data_len)
  writer.int(placement.length)
  writer.raw(keys.flags)
  writeTagged(writer, flags)
  for (const key of more) {
    writer.str(key)
    writeTagged(writer, extra[key]!)
  }
  if (!withHashes) return
  writer.raw(keys.hash_b3)
  writer.hex(hashOf(placement))
}

/** What only AERO said about the tensor, with the quantization that it has now. */
function quantFields(tensor: Tensor, { ids }: QuantTable): JsonObject {
  const extra = tensor.extra && ownExtras.has(tensor.extra) ? tensor.extra : {}
  const type = packedAs(tensor)
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

/** A number that AERO does not define was kept beside the bytes. */
function dtypeNumber(tensor: Tensor, kept: JsonValue | undefined): number {
  if (packedAs(tensor)) return packedNumber
  const number = tensor.dtype === packed && typeof kept === 'number' ? kept : numberOfDType(tensor.dtype)
  if (number !== undefined) return number
  const message = `AERO has no number for ${tensor.dtype.id}`
  return failWith(writeCodes['dtype-unsupported'], { file: '', path: tensor.name, message })
}
