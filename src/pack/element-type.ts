import { type DType, dtypeById, dtypes } from '../dtypes/index.js'
import { packCodes } from './codes.js'
import { type Field, fail, textOf } from './field.js'

/** Names that the OINF tools use for the only 8-bit float they know. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['f8', 'f8_e5m2'],
  ['f8e5m2', 'f8_e5m2'],
  ['float8e5m2', 'f8_e5m2'],
])

/** The numbers of the types in OINF files, which its own tools take in place of names. */
const tagged: ReadonlyMap<number, string> = new Map([
  ...['i8', 'i16', 'i32', 'i64', 'u8', 'u16', 'u32', 'u64', 'f16', 'f32', 'f64', 'bool', 'bitset'].map(
    (id, i) => [i + 1, id] as const,
  ),
  ...['bf16', 'f8_e5m2', 'i4', 'i2', 'i1', 'u4', 'u2', 'u1', 't2', 't1'].map((id, i) => [i + 16, id] as const),
])

/** Every name that a description may use, in lower case. */
export const elementTypeNames: readonly string[] = [
  ...[...dtypes.values()].filter((dtype) => dtype.kind !== 'opaque').map((dtype) => dtype.id),
  ...aliases.keys(),
]

export function readElementType(field: Field | undefined): DType | undefined {
  if (!field) return undefined
  const byNumber =
    typeof field.value === 'number' || typeof field.value === 'bigint' ? tagged.get(Number(field.value)) : undefined
  const name = byNumber ?? textOf(field, 'the name of an element type').trim().toLowerCase()
  const dtype = dtypeById(aliases.get(name) ?? name)
  if (dtype && dtype.kind !== 'opaque') return dtype
  const plain = [...dtypes.values()].filter(({ kind }) => kind !== 'block' && kind !== 'opaque')
  const known = plain.map(({ id }) => id).join(', ')
  return fail(field, packCodes.dtype, `there is no element type ${JSON.stringify(name)}; known are ${known}`)
}
