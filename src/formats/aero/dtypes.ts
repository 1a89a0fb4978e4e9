// Element types by number. Quantized tensors have the number 0x8000, `packed`; the type of their blocks stands in `quant_params`, in
// practice always {"ggml_type": n}, and again in a descriptor that `quant_id` points at.

import { type GgmlType, ggmlTypeByNumber, ggmlTypeOf } from '../../dtypes/ggml/types.js'
import {
  bf16,
  bool,
  type DType,
  f16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  packed,
  u8,
  u16,
  u32,
  u64,
} from '../../dtypes/index.js'
import type { JsonValue, Tensor } from '../../model/index.js'
import { isObject, type JsonObject, type TensorEntry } from './file.js'

const inNumberOrder: readonly DType[] = [f16, f32, bf16, f64, i8, u8, i16, u16, i32, u32, i64, u64, bool]
export const packedNumber = 0x8000

const numbers: ReadonlyMap<string, number> = new Map([
  ...inNumberOrder.map((dtype, number): [string, number] => [dtype.id, number]),
  [packed.id, packedNumber],
])

export const dtypeOfNumber = (number: number): DType | undefined =>
  number === packedNumber ? packed : inNumberOrder[number]

export const numberOfDType = (dtype: DType): number | undefined => numbers.get(dtype.id)

/** The ggml type inside a packed tensor, where the index says which. */
export const ggmlTypeIn = (extra: JsonObject | undefined): GgmlType | undefined => typeOfParams(extra?.quant_params)

function typeOfParams(params: JsonValue | undefined): GgmlType | undefined {
  const number = isObject(params) ? params.ggml_type : undefined
  return typeof number === 'number' ? ggmlTypeByNumber(number) : undefined
}

/** ggml types by `quant_id`. */
export type Descriptors = ReadonlyMap<number, GgmlType>

/**
 * A list of {id, quant_name, codec, params} says which types of packed data a file has. The document puts it into the manifest, the reference
 * writes it into the JSON metadata, so both are looked at, and the first list that describes an id counts.
 */
export function readDescriptors(lists: readonly (JsonValue | undefined)[]): Descriptors {
  const types = new Map<number, GgmlType>()
  for (const list of lists) {
    const seen = new Set<number>()
    for (const [i, row] of (Array.isArray(list) ? (list as readonly JsonValue[]) : []).entries()) {
      if (!isObject(row)) continue
      const id = typeof row.id === 'number' ? row.id : i
      if (seen.has(id)) continue
      seen.add(id)
      const type = row.codec === 'ggml' ? typeOfParams(row.params) : undefined
      if (type && !types.has(id)) types.set(id, type)
    }
  }
  return types
}

/** The block type that a tensor is packed as, or would be. */
export function packedAs(tensor: Tensor): GgmlType | undefined {
  const type = ggmlTypeOf(tensor.encoding ?? tensor.dtype)
  return type?.layout ? type : undefined
}

/** Bytes that the elements take. The reference keeps GGUF's order of dimensions, so blocks may run along the first one. */
export function neededBytes(dtype: DType, shape: readonly number[]): number | undefined {
  if (shape.includes(0)) return 0
  const plain = dtype.byteLength(shape)
  return plain ?? (dtype.kind === 'block' ? dtype.byteLength(shape.toReversed()) : undefined)
}

/** How many of the stored bytes of an entry are the tensor's data; the rest is padding. */
export function dataLengthOf({ tensor, start, end }: TensorEntry): number {
  const type = tensor.dtype === packed ? tensor.encoding : tensor.dtype
  return (type && neededBytes(type, tensor.shape)) ?? end - start
}
