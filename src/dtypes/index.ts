// Every element type that tare knows. A new family is one file and one line in the list below.
import { booleans, integers } from './integers.js'

export { bitset, bool, i8, i16, i32, i64, u8, u16, u32, u64 } from './integers.js'

import { complexes } from './complex.js'
import type { DType } from './dtype.js'
import { floats } from './floats.js'
import { ggmlBlockTypes, oldGgmlTypes } from './ggml/types.js'
import { mcfTypes } from './mcf/types.js'
import { smallFloats } from './small-floats.js'
import { smallIntegers } from './small-integers.js'

export { c64, c128 } from './complex.js'
export {
  type Codec,
  type Complex,
  type DType,
  type DTypeKind,
  isSizeOf,
  type RegionCodec,
  type RegionReader,
  type Scalar,
  type ValueSet,
} from './dtype.js'
export { bf16, f16, f32, f64 } from './floats.js'
export { type GgmlType, ggmlTypeByName, ggmlTypeByNumber } from './ggml/types.js'
export { f4_e2m1, f6_e2m3, f8_e4m3, f8_e5m2, f8_e8m0 } from './small-floats.js'
export { i1, i2, i4, t1, t2, u1, u2, u4 } from './small-integers.js'

/** Bytes whose meaning only the container knows. The shape does not tell how many there are. */
export const packed: DType<'packed'> = {
  id: 'packed',
  kind: 'opaque',
  group: { elements: 1, bytes: 1 },
  byteLength: () => undefined,
}

const families = [
  floats,
  smallFloats,
  integers,
  smallIntegers,
  booleans,
  complexes,
  mcfTypes,
  ggmlBlockTypes,
  oldGgmlTypes,
  [packed],
] as const

/** The id of an element type. */
export type DTypeId = (typeof families)[number][number]['id']

/** By id, in the order of the families. */
export const dtypes: ReadonlyMap<string, DType<DTypeId>> = new Map(
  families.flat<readonly (readonly DType<DTypeId>[])[]>().map((dtype) => [dtype.id, dtype]),
)

export const dtypeById = (id: string): DType<DTypeId> | undefined => dtypes.get(id)

/** Whether the values can be decoded to real numbers. */
export const isReal = (dtype: DType): boolean => dtype.codec !== undefined && dtype.kind !== 'complex'
