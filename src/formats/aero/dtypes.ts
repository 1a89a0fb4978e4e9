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
import { isObject, type JsonObject } from './file.js'

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

/** The ggml type that `quant_params` name. */
export function typeOfParams(params: JsonValue | undefined): GgmlType | undefined {
  const number = isObject(params) ? params.ggml_type : undefined
  return typeof number === 'number' ? ggmlTypeByNumber(number) : undefined
}

/** ggml types by `quant_id`. */
export type Descriptors = ReadonlyMap<number, GgmlType>

/** The block type that a tensor is packed as, or would be. */
export function packedAs(tensor: Tensor): GgmlType | undefined {
  const type = ggmlTypeOf(tensor.encoding ?? tensor.dtype)
  return type?.layout ? type : undefined
}
