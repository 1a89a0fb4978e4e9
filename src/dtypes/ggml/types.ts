// The tensor types of ggml: numbers in files, names in tools. Plain types are the plain element types of every other format; the rest
// are blocks, named `ggml.` and the name in lower case.
import { checkedMultiply, countElements } from '../../bytes/index.js'
import {
  type BlockLayout,
  type BlockName,
  blockBytes,
  layouts,
  type OldBlockName,
  oldLayouts,
} from '../../kernels/ggml/layouts.js'
import type { Codec, DType } from '../dtype.js'
import { bf16, f16, f32, f64 } from '../floats.js'
import { i8, i16, i32, i64 } from '../integers.js'
import { codecOf, oldCodecOf } from './codecs.js'

export interface GgmlType {
  /** What a file holds. */
  readonly number: number
  /** As ggml spells it: `Q4_K`. */
  readonly name: string
  readonly dtype: DType
  /** Absent for plain types. */
  readonly layout?: BlockLayout
}

/** The id of a block type. */
type BlockId = `ggml.${BlockName}`

function blockType<Name extends string>(name: Name, layout: BlockLayout, codec: Codec): DType<`ggml.${Name}`> {
  const group = { elements: layout.elements, bytes: blockBytes(layout) }
  return { id: `ggml.${name}`, kind: 'block', group, byteLength: (shape) => blocksByteLength(group, shape), codec }
}

/** Rows, the last dimension of a row-major shape, must be whole blocks; a matching total is not enough. */
function blocksByteLength(group: DType['group'], shape: readonly number[]): number | undefined {
  const row = shape.at(-1)
  const count = countElements(shape)
  if (row === undefined || count === undefined || row % group.elements !== 0) return undefined
  return checkedMultiply(count / group.elements, group.bytes)
}

const plain: readonly (readonly [number, string, DType])[] = [
  [0, 'F32', f32],
  [1, 'F16', f16],
  [24, 'I8', i8],
  [25, 'I16', i16],
  [26, 'I32', i32],
  [27, 'I64', i64],
  [28, 'F64', f64],
  [30, 'BF16', bf16],
]

const blocks: readonly (readonly [number, BlockName])[] = [
  [2, 'q4_0'],
  [3, 'q4_1'],
  [6, 'q5_0'],
  [7, 'q5_1'],
  [8, 'q8_0'],
  [9, 'q8_1'],
  [10, 'q2_k'],
  [11, 'q3_k'],
  [12, 'q4_k'],
  [13, 'q5_k'],
  [14, 'q6_k'],
  [15, 'q8_k'],
  [16, 'iq2_xxs'],
  [17, 'iq2_xs'],
  [18, 'iq3_xxs'],
  [19, 'iq1_s'],
  [20, 'iq4_nl'],
  [21, 'iq3_s'],
  [22, 'iq2_s'],
  [23, 'iq4_xs'],
  [29, 'iq1_m'],
  [34, 'tq1_0'],
  [35, 'tq2_0'],
  [39, 'mxfp4'],
  [40, 'nvfp4'],
  [41, 'q1_0'],
  [42, 'q2_0'],
]

/** Numbers that ggml once assigned and withdrew; no program reads them today. */
export const removedGgmlTypes: ReadonlyMap<number, string> = new Map([
  [4, 'Q4_2'],
  [5, 'Q4_3'],
  [31, 'Q4_0_4_4'],
  [32, 'Q4_0_4_8'],
  [33, 'Q4_0_8_8'],
  [36, 'IQ4_NL_4_4'],
  [37, 'IQ4_NL_4_8'],
  [38, 'IQ4_NL_8_8'],
])

/** All types in use, by number. */
export const ggmlTypes: readonly GgmlType[] = [
  ...plain.map(([number, name, dtype]) => ({ number, name, dtype })),
  ...blocks.map(([number, name]) => ({
    number,
    name: name.toUpperCase(),
    dtype: blockType(name, layouts[name], codecOf(name)),
    layout: layouts[name],
  })),
].sort((a, b) => a.number - b.number)

const byNumber = new Map(ggmlTypes.map((type) => [type.number, type]))
const byName = new Map(ggmlTypes.map((type) => [type.name, type]))
const byDType = new Map(ggmlTypes.map((type) => [type.dtype.id, type]))

/** The type that a file means by a number; undefined for removed and unknown ones. */
export const ggmlTypeByNumber = (number: number): GgmlType | undefined => byNumber.get(number)

/** By ggml's name, in any case: `Q4_K`, `q4_k`. */
export const ggmlTypeByName = (name: string): GgmlType | undefined => byName.get(name.toUpperCase())

/** The type that holds tensors of a dtype; undefined if ggml has none. */
export const ggmlTypeOf = (dtype: DType): GgmlType | undefined => byDType.get(dtype.id)

/** The block types. The plain types belong to the other families. */
export const ggmlBlockTypes: readonly DType<BlockId>[] = ggmlTypes
  .filter((type) => type.layout)
  .map((type) => type.dtype as DType<BlockId>)

const oldType = <Name extends OldBlockName>(name: Name): DType<`ggml.${Name}`> =>
  blockType(name, oldLayouts[name], oldCodecOf(name))

const q8_0Old = oldType('q8_0_v1')
const q4_0Second = oldType('q4_0_v2')
const q4_1Second = oldType('q4_1_v2')
const first = (['q4_0_v1', 'q4_1_v1', 'q4_2', 'q4_3', 'q5_0_v1', 'q5_1_v1'] as const).map(oldType)

/** The block types of files before GGUF that differ from today's. */
export const oldGgmlTypes = [...first, q8_0Old, q4_0Second, q4_1Second] as const

/** What the numbers of block types meant before, by the version of the quantized types: 0 until May 2023, then 1; 2 is today's. */
const oldNumbers: readonly ReadonlyMap<number, DType>[] = [
  new Map<number, DType>([...first.map((dtype, i) => [i + 2, dtype] as const), [8, q8_0Old]]),
  new Map<number, DType>([
    [2, q4_0Second],
    [3, q4_1Second],
    [6, byNumber.get(6)!.dtype],
    [7, byNumber.get(7)!.dtype],
    [8, q8_0Old],
  ]),
]

/** The type that a file with this version of the quantized types means by a number. */
export function ggmlTypeInVersion(number: number, version: number): DType | undefined {
  const type = byNumber.get(number)
  const old = oldNumbers[version]
  return old && type?.layout ? old.get(number) : (old?.get(number) ?? type?.dtype)
}
