// The element types of ONNX, by the number in `data_type`, and the field that holds their values when `raw_data` does not.
//
// `int32_data` serves for everything that has up to 32 bits and no field of its own: integers, booleans, the bit patterns of small
// floats. Types of two and four bits have one packed byte per entry there, types of six bits one element per entry. `uint64_data` holds u32
// too; complex numbers are pairs of their parts.
import { type DType, dtypeById } from '../../../dtypes/index.js'

export const fieldNames: ReadonlyMap<number, string> = new Map([
  [4, 'float_data'],
  [5, 'int32_data'],
  [6, 'string_data'],
  [7, 'int64_data'],
  [10, 'double_data'],
  [11, 'uint64_data'],
])

export interface DataType {
  readonly dtype: DType
  /** The typed field that holds the values. */
  readonly field: number
  /** Bytes that an entry of that field becomes. */
  readonly width: 1 | 2 | 4 | 8
  /** Whether an entry is one element of six bits, which still has to be packed. */
  readonly isSixBit: boolean
  readonly isVarint: boolean
  /** What an entry of a varint field may be; undefined where all 64 bits count. */
  readonly bounds?: Bounds
}

export const stringType = 8

const floatData = 4
const int32Data = 5
const int64Data = 7
const doubleData = 10
const uint64Data = 11

type Bounds = readonly [min: number, max: number]

function typed(id: string, field: number, width: DataType['width'], bounds?: Bounds): DataType {
  const dtype = dtypeById(id)
  if (!dtype) throw new Error(`no element type ${id}`)
  const isVarint = field !== floatData && field !== doubleData
  return {
    dtype,
    field,
    width,
    isSixBit: dtype.group.elements === 4 && dtype.group.bytes === 3,
    isVarint,
    ...(bounds && { bounds }),
  }
}

const unsigned = (id: string, bytes: 1 | 2): DataType => typed(id, int32Data, bytes, [0, 2 ** (8 * bytes) - 1])
const signed = (id: string, bytes: 1 | 2 | 4): DataType =>
  typed(id, int32Data, bytes, [-(2 ** (8 * bytes - 1)), 2 ** (8 * bytes - 1) - 1])

/** A byte of several elements has no sign, but quantizers write it as an int8 where the elements have one. */
const packedSigned = (id: string): DataType => typed(id, int32Data, 1, [-128, 255])

export const dataTypes: ReadonlyMap<number, DataType> = new Map([
  [1, typed('f32', floatData, 4)],
  [2, unsigned('u8', 1)],
  [3, signed('i8', 1)],
  [4, unsigned('u16', 2)],
  [5, signed('i16', 2)],
  [6, signed('i32', 4)],
  [7, typed('i64', int64Data, 8)],
  [9, typed('bool', int32Data, 1, [0, 1])],
  [10, unsigned('f16', 2)],
  [11, typed('f64', doubleData, 8)],
  [12, typed('u32', uint64Data, 4, [0, 2 ** 32 - 1])],
  [13, typed('u64', uint64Data, 8)],
  [14, typed('c64', floatData, 4)],
  [15, typed('c128', doubleData, 8)],
  [16, unsigned('bf16', 2)],
  [17, unsigned('f8_e4m3', 1)],
  [18, unsigned('f8_e4m3fnuz', 1)],
  [19, unsigned('f8_e5m2', 1)],
  [20, unsigned('f8_e5m2fnuz', 1)],
  [21, unsigned('u4', 1)],
  [22, packedSigned('i4')],
  [23, unsigned('f4_e2m1', 1)],
  [24, unsigned('f8_e8m0', 1)],
  [25, unsigned('u2', 1)],
  [26, packedSigned('i2')],
  [27, typed('f6_e2m3', int32Data, 1, [0, 63])],
  [28, typed('f6_e3m2', int32Data, 1, [0, 63])],
])

/** By the id of the element type. */
export const typeNumbers: ReadonlyMap<string, number> = new Map(
  [...dataTypes].map(([number, { dtype }]) => [dtype.id, number]),
)

/** How many entries the typed field must have. */
export const entryCount = ({ width, isSixBit }: DataType, byteLength: number, elements: number): number =>
  isSixBit ? elements : byteLength / width
