import { type DType, dtypeById, dtypes } from '../dtypes/index.js'
import { packCodes } from './codes.js'
import { type Field, fail, textOf } from './field.js'

/** Names that the OINF tools use for the only 8-bit float they know. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['f8', 'f8_e5m2'],
  ['f8e5m2', 'f8_e5m2'],
  ['float8e5m2', 'f8_e5m2'],
])

/** Every name that a description may use, in lower case. */
export const elementTypeNames: readonly string[] = [
  ...[...dtypes.values()].filter((dtype) => dtype.kind !== 'opaque').map((dtype) => dtype.id),
  ...aliases.keys(),
]

export function readElementType(field: Field | undefined): DType | undefined {
  if (!field) return undefined
  const name = textOf(field, 'the name of an element type').trim().toLowerCase()
  const dtype = dtypeById(aliases.get(name) ?? name)
  if (dtype && dtype.kind !== 'opaque') return dtype
  const plain = [...dtypes.values()].filter(({ kind }) => kind !== 'block' && kind !== 'opaque')
  const known = plain.map(({ id }) => id).join(', ')
  return fail(field, packCodes.dtype, `there is no element type ${JSON.stringify(name)}; known are ${known}`)
}
