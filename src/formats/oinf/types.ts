// The 25 type tags. Every tag but 14 (string) and 15 (ndarray) is an element type; F8 is E5M2, and there is no tag for E4M3, for complex
// numbers or for blocks. A tensor may have any element type; an array in the metadata any but bitset.
import { type DType, dtypeById } from '../../dtypes/index.js'

export const stringTag = 14
export const ndarrayTag = 15
export const bitsetTag = 13

const elementIds: readonly (readonly [tag: number, id: string])[] = [
  [1, 'i8'],
  [2, 'i16'],
  [3, 'i32'],
  [4, 'i64'],
  [5, 'u8'],
  [6, 'u16'],
  [7, 'u32'],
  [8, 'u64'],
  [9, 'f16'],
  [10, 'f32'],
  [11, 'f64'],
  [12, 'bool'],
  [bitsetTag, 'bitset'],
  [16, 'bf16'],
  [17, 'f8_e5m2'],
  [18, 'i4'],
  [19, 'i2'],
  [20, 'i1'],
  [21, 'u4'],
  [22, 'u2'],
  [23, 'u1'],
  [24, 't2'],
  [25, 't1'],
]

const rows = elementIds.map(([tag, id]): readonly [number, DType] => {
  const dtype = dtypeById(id)
  if (!dtype) throw new Error(`no element type ${id}`)
  return [tag, dtype]
})

export const dtypeByTag: ReadonlyMap<number, DType> = new Map(rows)
export const tagByDType: ReadonlyMap<string, number> = new Map(rows.map(([tag, dtype]) => [dtype.id, tag]))

/** Whether several elements share a byte. */
export const isPacked = (dtype: DType): boolean => dtype.group.elements > 1

/** The bits of the last byte that belong to no element. */
export function tailMask(dtype: DType, count: number): number {
  const used = ((count % dtype.group.elements) * 8) / dtype.group.elements
  return used === 0 ? 0 : 256 - 2 ** used
}

/** Bytes that the elements take, or undefined beyond 2^53-1. A zero anywhere in the shape means that there are none. */
export function dataSize(dtype: DType, shape: readonly number[]): number | undefined {
  return dtype.byteLength(shape.includes(0) ? [0] : shape)
}
