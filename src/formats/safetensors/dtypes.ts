// The element types of safetensors, in the order of the reference library's own list. That order matters when writing: tensors go
// from its end to its beginning (widest alignment first), and by name within a type.
import { type DType, dtypeById } from '../../dtypes/index.js'

const inLibraryOrder = [
  ['BOOL', 'bool'],
  ['F4', 'f4_e2m1'],
  ['F6_E2M3', 'f6_e2m3'],
  ['F6_E3M2', 'f6_e3m2'],
  ['U8', 'u8'],
  ['I8', 'i8'],
  ['F8_E5M2', 'f8_e5m2'],
  ['F8_E4M3', 'f8_e4m3'],
  ['F8_E8M0', 'f8_e8m0'],
  ['F8_E4M3FNUZ', 'f8_e4m3fnuz'],
  ['F8_E5M2FNUZ', 'f8_e5m2fnuz'],
  ['I16', 'i16'],
  ['U16', 'u16'],
  ['F16', 'f16'],
  ['BF16', 'bf16'],
  ['I32', 'i32'],
  ['U32', 'u32'],
  ['F32', 'f32'],
  ['C64', 'c64'],
  ['F64', 'f64'],
  ['I64', 'i64'],
  ['U64', 'u64'],
] as const

export interface Tag {
  readonly tag: string
  readonly dtype: DType
  /** Position in the library's list. */
  readonly rank: number
  /** Bits per element: the total must fill whole bytes. */
  readonly bits: number
}

const rows: Tag[] = inLibraryOrder.map(([tag, id], rank) => {
  const dtype = dtypeById(id)
  if (!dtype) throw new Error(`no element type ${id}`)
  return { tag, dtype, rank, bits: (dtype.group.bytes * 8) / dtype.group.elements }
})

export const tagByName: ReadonlyMap<string, Tag> = new Map(rows.map((row) => [row.tag, row]))
export const tagByDType: ReadonlyMap<string, Tag> = new Map(rows.map((row) => [row.dtype.id, row]))
