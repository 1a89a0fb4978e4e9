// Writes OINF files field by field, right or wrong, without the code under test.
import { MemorySource } from '../../../src/kit.js'
import { floats } from '../../support/numbers.js'

export interface CraftedValue {
  readonly key: string | Uint8Array
  readonly type: number
  readonly payload: Uint8Array
  readonly flags?: number
  readonly nbytes?: bigint
  readonly offset?: bigint
}

interface CraftedTensor {
  readonly name: string | Uint8Array
  readonly tag: number
  readonly dims: readonly (number | bigint)[]
  readonly flags?: number
  readonly ndim?: number
  readonly data?: Uint8Array
  readonly nbytes?: bigint
  readonly offset?: bigint
  readonly quant?: Uint8Array
  readonly quantNbytes?: bigint
  readonly quantOffset?: bigint
}

export interface Craft {
  readonly version?: number
  readonly flags?: number
  readonly reserved?: number
  readonly counts?: readonly [sizevars: number, metadata: number, tensors: number]
  /** Changes the offsets of sizevars, metadata, tensors, data, and the file size. */
  readonly offsets?: (offsets: bigint[]) => bigint[]
  readonly sizevars?: readonly (readonly [name: string | Uint8Array, value: bigint])[]
  readonly metadata?: readonly CraftedValue[]
  readonly tensors?: readonly CraftedTensor[]
  /** Data of all tensors first, quantization after them, as the encoder of version 2 does by mistake. */
  readonly misplaced?: boolean
  /** What padding consists of. */
  readonly padding?: number
  /** Changes the bytes at the end. */
  readonly patch?: (bytes: Uint8Array, view: DataView) => Uint8Array | undefined
}

export const u32 = (...values: number[]): Uint8Array => new Uint8Array(Uint32Array.from(values).buffer)
export const u64 = (...values: (number | bigint)[]): Uint8Array =>
  new Uint8Array(BigUint64Array.from(values.map(BigInt)).buffer)
export const f32 = floats
export const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)

export function join(...chunks: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}

const up = (length: number): number => Math.ceil(length / 8) * 8
const encode = (text: string | Uint8Array): Uint8Array =>
  typeof text === 'string' ? new TextEncoder().encode(text) : text

/** Fills up to a multiple of 8. */
export const padded = (chunk: Uint8Array, filler = 0): Uint8Array =>
  join(chunk, new Uint8Array(up(chunk.length) - chunk.length).fill(filler))

export const string = (text: string | Uint8Array, filler = 0): Uint8Array =>
  padded(join(u32(encode(text).length), encode(text)), filler)

/** The payload of an array. */
export const ndarray = (tag: number, dims: readonly (number | bigint)[], data: Uint8Array): Uint8Array =>
  padded(join(u32(tag, dims.length), u64(...dims), data))

export function craft(parts: Craft): Uint8Array {
  const { version = 1, padding = 0, sizevars = [], metadata = [], tensors = [] } = parts
  const isV2 = version === 2
  const sizevarTable = sizevars.map(([name, value]) => join(string(name, padding), u64(value)))
  const metadataAt = 72 + length(sizevarTable)
  const tensorsAt = metadataAt + metadata.reduce((sum, { key }) => sum + string(key).length + 24, 0)
  const records = tensors.reduce(
    (sum, { name, dims }) => sum + string(name).length + 28 + 8 * dims.length + (isV2 ? 16 : 0),
    0,
  )
  const dataAt = up(tensorsAt + records)

  let at = dataAt
  const blobs: Uint8Array[] = []
  const late: Uint8Array[] = []
  const put = (blob: Uint8Array, list = blobs): bigint => {
    const offset = at
    list.push(padded(blob, padding))
    at = up(at + blob.length)
    return BigInt(offset)
  }
  const metadataTable = metadata.map(({ key, type, payload, flags = 0, nbytes, offset }) => {
    const place = put(payload)
    return join(string(key, padding), u32(type, flags), u64(nbytes ?? payload.length, offset ?? place))
  })
  const tensorTable = tensors.map((tensor) => {
    const { name, tag, dims, data, quant } = tensor
    const dataPlace = data && put(data)
    const quantPlace = quant && put(quant, parts.misplaced ? late : blobs)
    const flags = tensor.flags ?? (data ? 1 : 0) + (quant ? 2 : 0)
    return join(
      string(name, padding),
      u32(tag, tensor.ndim ?? dims.length, flags),
      u64(...dims),
      u64(tensor.nbytes ?? data?.length ?? 0, tensor.offset ?? dataPlace ?? 0),
      isV2 ? u64(tensor.quantNbytes ?? quant?.length ?? 0, tensor.quantOffset ?? quantPlace ?? 0) : u64(),
    )
  })
  const plain = [72, metadataAt, tensorsAt, dataAt, at].map(BigInt)
  const counts = parts.counts ?? [sizevars.length, metadata.length, tensors.length]
  const head = join(
    encode('OINF\0'),
    u32(version, parts.flags ?? 0, ...counts, parts.reserved ?? 0),
    u64(...(parts.offsets?.(plain) ?? plain)),
  )
  const tables = padded(join(...sizevarTable, ...metadataTable, ...tensorTable), padding)
  const file = join(padded(head, padding), tables, ...blobs, ...late)
  return parts.patch?.(file, new DataView(file.buffer)) ?? file
}

const length = (chunks: readonly Uint8Array[]): number => chunks.reduce((sum, chunk) => sum + chunk.length, 0)

export const sourceOf = (parts: Craft): MemorySource => new MemorySource(craft(parts), 'model.oinf')

export interface CraftedQuant {
  readonly scheme?: number
  readonly scaleMode?: number
  readonly zpMode?: number
  readonly reserved?: number
  readonly scaleAxis?: number
  readonly scaleCount?: number | bigint
  readonly zpAxis?: number
  readonly zpCount?: number | bigint
  readonly scales?: readonly number[]
  readonly zeroPoints?: readonly number[]
}

/** A quantization payload; symmetric with one scale unless told otherwise. */
export function quant(parts: CraftedQuant = {}): Uint8Array {
  const { scheme = 1, scaleMode = 1, zpMode = 0, reserved = 0, scales = [0.5], zeroPoints = [] } = parts
  const head = u32(scheme, scaleMode, zpMode, reserved)
  const scaleFields = u64(parts.scaleAxis ?? 0, parts.scaleCount ?? scales.length)
  const zeroFields = u64(parts.zpAxis ?? 0, parts.zpCount ?? zeroPoints.length)
  const zeros = new Uint8Array(Int32Array.from(zeroPoints).buffer)
  return padded(join(head, scaleFields, zeroFields, f32(...scales), zeros))
}
