// Element types by number. Quantized tensors have the number 0x8000, `packed`; what is inside says `quant_params`, in practice always
// {"ggml_type": n}, and once more a descriptor that `quant_id` points at.

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

const inNumberOrder: readonly DType[] = [f16, f32, bf16, f64, i8, u8, i16, u16, i32, u32, i64, u64, bool]
export const packedNumber = 0x8000

const numbers: ReadonlyMap<string, number> = new Map([
  ...inNumberOrder.map((dtype, number): [string, number] => [dtype.id, number]),
  [packed.id, packedNumber],
])

export const dtypeOfNumber = (number: number): DType | undefined =>
  number === packedNumber ? packed : inNumberOrder[number]

export const numberOfDType = (dtype: DType): number | undefined => numbers.get(dtype.id)

type Extra = Readonly<Record<string, JsonValue>> | undefined

/** The ggml type inside a packed tensor, where the index says which. */
export function ggmlTypeIn(extra: Extra): GgmlType | undefined {
  const params = extra?.quant_params
  const number = typeof params === 'object' && params !== null && 'ggml_type' in params ? params.ggml_type : undefined
  return typeof number === 'number' ? ggmlTypeByNumber(number) : undefined
}

/** The block type that a tensor would be packed as: its own, or the one it is packed as already. */
export function packedAs(tensor: Tensor): GgmlType | undefined {
  const type = ggmlTypeOf(tensor.encoding ?? tensor.dtype)
  return type?.layout ? type : undefined
}

/** Bytes that elements take, counted over the whole tensor: the reference keeps GGUF's order of dimensions, so rows may be columns. */
export function neededBytes(dtype: DType, shape: readonly number[]): number | undefined {
  if (shape.includes(0)) return 0
  const plain = dtype.byteLength(shape)
  return plain ?? (dtype.kind === 'block' ? dtype.byteLength(shape.toReversed()) : undefined)
}
