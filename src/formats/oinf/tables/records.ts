// What records point at: values on multiples of 8 in the data section, and not beyond the end of the file.
import { type ByteSource, countElements, type Range } from '../../../bytes/index.js'
import type { DType } from '../../../dtypes/index.js'
import type { Tensor } from '../../../model/index.js'
import { formatDims, type Shape } from '../../../model/model.js'
import { RangePayload } from '../../../model/payload.js'
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

/** The data of a tensor, where its record says. */
export class TensorData extends RangePayload implements ValueRange {
  readonly index: number

  constructor(source: ByteSource, offset: number, length: number, index: number) {
    super(source, offset, length)
    this.index = index
  }

  get kind(): 'data' {
    return 'data'
  }

  get start(): number {
    return this.offset
  }

  get end(): number {
    return this.offset + this.byteLength
  }
}

/** A tensor as its record describes it. */
export interface StoredTensor extends Tensor {
  readonly data: TensorData | null
}

/** The path of a value. */
export const pathOfValue = ({ kind, index }: ValueRange): string =>
  kind === 'metadata' ? `metadata[${index}].value` : `tensors[${index}].${kind}`

export interface Bounds {
  readonly offsetData: number
  readonly end: number
  complain(code: OinfCode, offset: number, field: string, message: string): false
}

/** As stated in a record. `at` is the file offset of the size field; the offset field follows it. */
export interface StatedRange {
  readonly length: number | bigint
  readonly offset: number | bigint
  readonly at: number
}

const codeOf = { metadata: 'metadata', data: 'tensor', quant: 'quant' } as const
const fieldOf = { metadata: 'value', data: 'data', quant: 'quant' } as const

/** Whether a value may be there; what is wrong is reported. */
export function checkRange(
  kind: ValueRange['kind'],
  { length, offset, at }: StatedRange,
  { offsetData, end, complain }: Bounds,
): boolean {
  // Beyond 2^53 the sum is rounded, which is still far outside of the file.
  if (isAligned(offset) && offset >= offsetData && Number(offset) + Number(length) <= end) return true
  const refuse = (fault: 'alignment' | 'before-data' | 'past-end', message: string): false =>
    complain(`${codeOf[kind]}-${fault}`, at + 8, `${fieldOf[kind]}_offset`, message)
  if (!isAligned(offset)) return refuse('alignment', `${offset} is not a multiple of ${alignment}`)
  if (offset < offsetData) return refuse('before-data', `${offset} is before the data section at ${offsetData}`)
  return refuse('past-end', `${length} bytes at ${offset} run past the end at ${end}`)
}

/** The range of the record at `index`, once it is checked. */
export const toRange = (kind: ValueRange['kind'], index: number, { length, offset }: StatedRange): ValueRange => ({
  kind,
  index,
  start: Number(offset),
  end: Number(offset) + Number(length),
})

const isAligned = (offset: number | bigint): boolean =>
  typeof offset === 'number' ? offset % alignment === 0 : offset % BigInt(alignment) === 0n

/** Whether the data of a tensor may be there, or there may be none; what is wrong is reported. */
export function checkData(dtype: DType, dims: Shape, isPresent: boolean, stated: StatedRange, bounds: Bounds): boolean {
  const { length, offset, at } = stated
  if (!isPresent) {
    if (length === 0 && offset === 0) return true
    const message = `${length} bytes at ${offset}, but the tensor has no data`
    return bounds.complain('tensor-no-data', at, 'data_nbytes', message)
  }
  const size = dataSize(dtype, dims.shape)
  if (length === size) return checkRange('data', stated, bounds)
  const type = `shape ${formatDims(dims)} of ${dtype.id}`
  if (size !== undefined)
    return bounds.complain('tensor-size', at, 'data_nbytes', `${length} bytes, but ${type} takes ${size}`)
  const what = countElements(dims.shape) === undefined ? 'elements' : 'bytes'
  return bounds.complain('tensor-overflow', at, 'dims', `${type} has more than 2^53-1 ${what}`)
}
