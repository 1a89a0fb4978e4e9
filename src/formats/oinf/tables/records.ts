// What records point at: values on multiples of 8 in the data section, and not beyond the end of the file.
import { countElements, type Range } from '../../../bytes/index.js'
import type { DType } from '../../../dtypes/index.js'
import { formatDims, type Shape } from '../../../model/dims.js'
import type { Tensor } from '../../../model/index.js'
import type { OinfCode } from '../codes.js'
import { alignment } from '../structs.js'
import { dataSize } from '../types.js'

/** A value in the data section: of a metadata entry, the data of a tensor, or its quantization. */
export interface ValueRange extends Range {
  readonly kind: 'metadata' | 'data' | 'quant'
  /** Position of the record in its table. */
  readonly index: number
}

export interface MetadataRecord {
  readonly index: number
  readonly key: string
  readonly type: number
  readonly value: ValueRange
}

/** The path of a value. */
export const pathOfValue = ({ kind, index }: ValueRange): string =>
  kind === 'metadata' ? `metadata[${index}].value` : `tensors[${index}].${kind}`

/** Where the data of a tensor are, if it has any. `index` is the position of its record. */
export function rangeOfData({ data }: Tensor, index: number): ValueRange | undefined {
  const origin = data?.origin
  return origin && { kind: 'data', index, start: origin.offset, end: origin.offset + origin.length }
}

export interface Bounds {
  readonly offsetData: number
  readonly end: number
  complain(code: OinfCode, offset: number, field: string, message: string): false
}

/** As the file has it. `at` is the place of the size field; that of the offset follows it. */
export interface StatedRange {
  readonly length: number | bigint
  readonly offset: number | bigint
  readonly at: number
}

const codeOf = { metadata: 'metadata', data: 'tensor', quant: 'quant' } as const
const fieldOf = { metadata: 'value', data: 'data', quant: 'quant' } as const

/** The range of the record at `index`, or undefined after what is wrong was reported. */
export function checkRange(
  kind: ValueRange['kind'],
  index: number,
  { length, offset, at }: StatedRange,
  { offsetData, end, complain }: Bounds,
): ValueRange | undefined {
  // Beyond 2^53 the sum is rounded, which is still far outside of the file.
  const reached = Number(offset) + Number(length)
  if (isAligned(offset) && offset >= offsetData && reached <= end)
    return { kind, index, start: Number(offset), end: reached }
  const refuse = (fault: 'alignment' | 'before-data' | 'past-end', message: string): undefined => {
    complain(`${codeOf[kind]}-${fault}`, at + 8, `${fieldOf[kind]}_offset`, message)
  }
  if (!isAligned(offset)) return refuse('alignment', `${offset} is no multiple of ${alignment}`)
  if (offset < offsetData) return refuse('before-data', `${offset} is before the data section at ${offsetData}`)
  return refuse('past-end', `${length} bytes at ${offset} run past the end at ${end}`)
}

const isAligned = (offset: number | bigint): boolean =>
  typeof offset === 'number' ? offset % alignment === 0 : offset % BigInt(alignment) === 0n

/** The range of a tensor's data; null where the tensor does without, undefined after what is wrong was reported. */
export function checkData(
  index: number,
  dtype: DType,
  dims: Shape,
  isPresent: boolean,
  stated: StatedRange,
  bounds: Bounds,
): ValueRange | null | undefined {
  const { shape } = dims
  const { length, offset, at } = stated
  if (!isPresent && length === 0 && offset === 0) return null
  const size = dataSize(dtype, shape)
  if (isPresent && length === size) return checkRange('data', index, stated, bounds)
  const refuse = (code: OinfCode, field: string, message: string): undefined => {
    bounds.complain(code, at, field, message)
  }
  if (!isPresent)
    return refuse('tensor-no-data', 'data_nbytes', `${length} bytes at ${offset}, but the tensor has no data`)
  const type = `shape ${formatDims(dims)} of ${dtype.id}`
  if (size !== undefined) return refuse('tensor-size', 'data_nbytes', `${length} bytes, but ${type} takes ${size}`)
  const what = countElements(shape) === undefined ? 'elements' : 'bytes'
  return refuse('tensor-overflow', 'dims', `${type} has more than 2^53-1 ${what}`)
}
