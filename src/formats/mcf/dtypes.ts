// The numbers that stand for element types. There is no bool, no 8-bit float and no complex type.
import { bf16, type DType, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 } from '../../dtypes/index.js'
import { mcfTypes, methodOf, methods } from '../../dtypes/mcf/types.js'

const plain = [f32, f16, bf16, f64, i8, u8, i16, u16, i32, u32, i64, u64]

const rows: readonly (readonly [code: number, dtype: DType])[] = [
  ...plain.map((dtype, i) => [i + 1, dtype] as const),
  ...methods.map((method, i) => [method.code, mcfTypes[i]!] as const),
]

const byCode = new Map(rows)
const codeById = new Map(rows.map(([code, dtype]) => [dtype.id, code]))

export const dtypeOfCode = (code: number): DType | undefined => byCode.get(code)
export const codeOfDType = (id: string): number | undefined => codeById.get(id)

/** q* and k*: matrices in blocks of 32 columns. */
export const isBlockType = ({ id }: DType): boolean => {
  const family = methodOf(id)?.family
  return family === 'q' || family === 'k'
}

/** Quantized payloads begin on a multiple of 64; for int* only the document wants it. */
export const needsAlignment = ({ id }: DType): boolean => methodOf(id) !== undefined
