// An array as tensors: what the NPY header says, and where the elements are. The same for a file of its own and for a member of an
// archive. An array of plain elements is one tensor; of an array of records each field is one.
import { countElements, type ExtentRecorder } from '../../bytes/index.js'
import { type DType, dtypeById, packed } from '../../dtypes/index.js'
import type { Code, Details, Report } from '../../errors/index.js'
import { bytesPayload, type Payload, type ReadContext, type Tensor } from '../../model/index.js'
import { stridedPayload } from '../../payloads/strided-payload.js'
import { swappedPayload } from '../../payloads/swapped-payload.js'
import { npyHeaderCodes } from '../../wire/npy/codes.js'
import type { NpyHeader } from '../../wire/npy/parse.js'
import type { RecordField } from '../../wire/npy/records.js'
import { type ElementType, foreignTypeName } from '../../wire/npy/types.js'
import { arrayCodes as codes } from './codes.js'

/** Where an array lies: a file, or the content of a member. */
export interface ArrayPlace {
  /** All bytes of it, header included. */
  readonly size: number
  /** Gives findings their place in the file. */
  readonly report: Report
  readonly onLost?: ReadContext['onLost']
  payload(offset: number, length: number): Payload
  /** What the tensor is called, or that of a field. */
  nameOf(field?: string): string
  readonly isNamedByFile?: true
  /** Told about what can be read, and is no clean file all the same. */
  onFlaw(code: Code, details: Details): void
}

/** Undefined when it was reported that elements are missing. */
export function tensorsOf(header: NpyHeader, place: ArrayPlace): Tensor[] | undefined {
  const { shape, dataOffset, fields } = header
  const { report } = place
  const length = dataLength(header)
  const end = dataOffset + length
  const type = `[${shape.join(', ')}] of ${JSON.stringify(header.descr)}`
  if (end > place.size) {
    const message = `${type} takes ${length} bytes, ${place.size - dataOffset} are there`
    report.report(codes['data-truncated'], {
      offset: dataOffset,
      length: place.size - dataOffset,
      path: 'data',
      message,
    })
    place.onLost?.({ subject: 'tensor', name: place.nameOf(), length, reason: message })
    return undefined
  }
  if (end < place.size) {
    const message = `${place.size - end} bytes come after ${type}`
    report.report(codes['trailing-bytes'], { offset: end, length: place.size - end, path: 'data', message })
  }
  const stored = place.payload(dataOffset, length)
  if (fields) return fieldTensors(fields, header, stored, place)
  const order = header.fortranOrder ? ('column' as const) : ('row' as const)
  const name = { name: place.nameOf(), ...(place.isNamedByFile && { isNamedByFile: place.isNamedByFile }) }
  return [{ ...name, shape, order, role: 'weight', ...content(header, stored, header, place) }]
}

const dataLength = ({ shape, itemSize }: NpyHeader): number =>
  (shape.includes(0) ? 0 : countElements(shape)!) * itemSize

/** Elements of a type, little-endian; those of a type that tare does not know as they are. */
function content(
  { descr, dtype: id, bigEndian }: ElementType,
  stored: Payload,
  { textOffset }: NpyHeader,
  { report }: ArrayPlace,
): Pick<Tensor, 'dtype' | 'data' | 'extra'> {
  const dtype = id === undefined ? undefined : dtypeById(id)
  if (dtype) return { dtype, data: bigEndian ? swappedPayload(stored, swapWidth(dtype)) : stored }
  const hint = /V[12]$/.test(descr) ? '; extension packages save bfloat16 and 8-bit floats this way' : ''
  const message = `${foreignTypeName(descr)} (${JSON.stringify(descr)}) are kept as bytes${hint}`
  report.report(codes['foreign-type'], { offset: textOffset, path: 'header.descr', message })
  return { dtype: packed, data: stored, extra: { descr } }
}

/** The fields of records, gathered in row order. Other readers of arrays see something else, so the file is not a clean one. */
function fieldTensors(fields: readonly RecordField[], header: NpyHeader, stored: Payload, place: ArrayPlace): Tensor[] {
  const { report } = place
  const message = `the elements are ${header.descr}; each field is a tensor of its own`
  report.report(codes.records, { offset: header.textOffset, path: 'header.descr', message })
  place.onFlaw(npyHeaderCodes.structured, {
    offset: header.textOffset,
    path: 'header.descr',
    message: `the elements are ${header.descr}`,
  })
  const records = recordStrides(header)
  return fields.flatMap((field) => {
    const { name, itemSize } = field
    const shape = [...header.shape, ...field.shape]
    const count = shape.includes(0) ? 0 : countElements(shape)
    if (count === undefined) {
      const overflow = `${JSON.stringify(name)}: [${shape.join(', ')}] is more than any file can hold`
      report.report(npyHeaderCodes['shape-overflow'], {
        offset: header.textOffset,
        path: 'header.descr',
        message: overflow,
      })
      return []
    }
    const bytes = [...shape, itemSize]
    const strides = [...records, ...field.strides, 1]
    const refusal = { file: report.file, code: codes['records-deflated'] }
    const elements =
      count * itemSize === 0
        ? bytesPayload(new Uint8Array())
        : stridedPayload(stored, bytes, strides, 1, refusal, field.offset)
    return [
      { name: place.nameOf(name), shape, order: 'row', role: 'weight', ...content(field, elements, header, place) },
    ]
  })
}

/** The bytes from one record to the next along each dimension. */
function recordStrides({ shape, itemSize, fortranOrder }: NpyHeader): number[] {
  const step = (before: readonly number[]): number => before.reduce((product, dim) => product * dim, itemSize)
  return shape.map((_, axis) => step(fortranOrder ? shape.slice(0, axis) : shape.slice(axis + 1)))
}

/** The two parts of a complex number are swapped one by one. */
const swapWidth = (dtype: DType): number => (dtype.kind === 'complex' ? dtype.group.bytes / 2 : dtype.group.bytes)

/** The byte map of an array whose bytes start at `base` of the file; without its elements where they are not all there. */
export function recordArray(
  extents: ExtentRecorder | undefined,
  file: string,
  base: number,
  size: number,
  header: NpyHeader,
  isWhole: boolean,
  path = '',
): void {
  if (!extents) return
  const prefix = path === '' ? '' : `${path}.`
  const { version, textOffset, dataOffset, descr, shape, fortranOrder } = header
  const field = (offset: number, length: number, name: string, value?: string | number): void =>
    extents.add({ file, offset: base + offset, length, path: prefix + name, kind: 'field', value })
  field(0, 6, 'magic', '\u0093NUMPY')
  field(6, 2, 'version', version.join('.'))
  field(8, textOffset - 8, 'header_len', dataOffset - textOffset)
  const order = fortranOrder ? ', Fortran order' : ''
  field(textOffset, dataOffset - textOffset, 'header', `${descr} (${shape.join(', ')})${order}`)
  const length = isWhole ? dataLength(header) : size - dataOffset
  extents.add({ file, offset: base + dataOffset, length, path: `${prefix}data`, kind: 'data' })
}
