// An array as tensors, in a file of its own or as a member of an archive. An array of plain elements is one tensor; of an array of records
// each field is one.
import { type ExtentRecorder, elementsIn } from '../../bytes/index.js'
import { type DType, dtypeById, packed } from '../../dtypes/index.js'
import { type Details, neededSize, type Report } from '../../errors/index.js'
import { bytesPayload, type Payload, type Tensor } from '../../model/index.js'
import { stridedPayload } from '../../payloads/strided-payload.js'
import { swappedPayload } from '../../payloads/swapped-payload.js'
import { npyHeaderCodes } from '../../wire/npy/codes.js'
import type { NpyHeader } from '../../wire/npy/parse.js'
import { type ElementType, foreignTypeName } from '../../wire/npy/types.js'
import { arrayCodes as codes } from './codes.js'

export const dataLength = ({ shape, itemSize }: NpyHeader): number => elementsIn(shape)! * itemSize

/** Whether the elements end with the file or member, which has `size` bytes. Returns what is missing, in words, or undefined. */
export function checkLength(
  header: NpyHeader,
  size: number,
  report: Report,
  { isFile = false }: { readonly isFile?: boolean } = {},
): string | undefined {
  const { dataOffset, shape, descr } = header
  const length = dataLength(header)
  const end = dataOffset + length
  if (end === size) return undefined
  const type = `[${shape.join(', ')}] of ${JSON.stringify(descr)}`
  if (end > size) {
    const message = `${type} takes ${length} bytes, ${size - dataOffset} are there`
    const place = { offset: dataOffset, length: size - dataOffset, path: 'data' }
    report.report(codes['data-truncated'], { ...place, message, ...(isFile && neededSize(end)) })
    return message
  }
  const message = `${size - end} bytes come after ${type}`
  report.report(codes['trailing-bytes'], { offset: end, length: size - end, path: 'data', message })
  return undefined
}

/** The one tensor of an array of plain elements. */
export function arrayTensor(name: string, header: NpyHeader, elements: Payload, report: Report): Tensor {
  const { shape, fortranOrder } = header
  const { dtype, data, extra } = content(header, elements, header, report)
  const tensor: Tensor = { name, dtype, shape, order: fortranOrder ? 'column' : 'row', role: 'weight', data }
  return extra ? { ...tensor, extra } : tensor
}

/** A tensor for each field of an array of records, gathered in row order. */
export function fieldTensors(
  header: NpyHeader,
  records: Payload,
  nameOf: (field: string) => string,
  report: Report,
): Tensor[] {
  const place = { offset: header.textOffset, path: 'header.descr' }
  const { message } = describeRecords(header)
  report.report(codes.records, { ...place, message: `${message}; each field is a tensor of its own` })
  const strides = recordStrides(header)
  return header.fields!.flatMap((field) => {
    const { name, itemSize } = field
    const shape = [...header.shape, ...field.shape]
    const count = elementsIn(shape)
    if (count === undefined) {
      const overflow = `${JSON.stringify(name)}: [${shape.join(', ')}] is more than any file can hold`
      report.report(npyHeaderCodes['shape-overflow'], { ...place, message: overflow })
      return []
    }
    const bytes = [...shape, itemSize]
    const refusal = { file: report.file, code: codes['records-deflated'] }
    const elements =
      count * itemSize === 0
        ? bytesPayload(new Uint8Array())
        : stridedPayload(records, bytes, [...strides, ...field.strides, 1], 1, refusal, field.offset)
    return [{ name: nameOf(name), shape, order: 'row', role: 'weight', ...content(field, elements, header, report) }]
  })
}

/** Other programs that read weights do not expect records, so a file with them is not a clean one. */
export const describeRecords = ({ descr, textOffset }: NpyHeader): Details => ({
  offset: textOffset,
  path: 'header.descr',
  message: `the elements are ${descr}`,
})

/** Elements of a type, little-endian; those of a type that tare does not know as they are. */
function content(
  { descr, dtype: id, bigEndian }: ElementType,
  stored: Payload,
  { textOffset }: NpyHeader,
  report: Report,
): Pick<Tensor, 'dtype' | 'data' | 'extra'> {
  const dtype = id === undefined ? undefined : dtypeById(id)
  if (dtype) return { dtype, data: bigEndian ? swappedPayload(stored, swapWidth(dtype)) : stored }
  const hint = /V[12]$/.test(descr) ? '; extension packages save bfloat16 and 8-bit floats this way' : ''
  const message = `${foreignTypeName(descr)} (${JSON.stringify(descr)}) are kept as bytes${hint}`
  report.report(codes['foreign-type'], { offset: textOffset, path: 'header.descr', message })
  return { dtype: packed, data: stored, extra: { descr } }
}

/** The two parts of a complex number are swapped one by one. */
const swapWidth = (dtype: DType): number => (dtype.kind === 'complex' ? dtype.group.bytes / 2 : dtype.group.bytes)

/** The bytes from one record to the next along each dimension. */
function recordStrides({ shape, itemSize, fortranOrder }: NpyHeader): number[] {
  const step = (before: readonly number[]): number => before.reduce((product, dim) => product * dim, itemSize)
  return shape.map((_, axis) => step(fortranOrder ? shape.slice(0, axis) : shape.slice(axis + 1)))
}

/** The byte map of an array that begins at `base` of the file and has `length` bytes of elements. */
export function recordArray(
  extents: ExtentRecorder | undefined,
  file: string,
  base: number,
  header: NpyHeader,
  length: number,
  path = '',
): void {
  if (!extents) return
  const prefix = path === '' ? '' : `${path}.`
  const { version, textOffset, dataOffset, descr, shape, fortranOrder } = header
  const field = (offset: number, size: number, name: string, value: string | number): void =>
    extents.add({ file, offset: base + offset, length: size, path: prefix + name, kind: 'field', value })
  field(0, 6, 'magic', '\u0093NUMPY')
  field(6, 2, 'version', version.join('.'))
  field(8, textOffset - 8, 'header_len', dataOffset - textOffset)
  const order = fortranOrder ? ', Fortran order' : ''
  field(textOffset, dataOffset - textOffset, 'header', `${descr} (${shape.join(', ')})${order}`)
  extents.add({ file, offset: base + dataOffset, length, path: `${prefix}data`, kind: 'data' })
}
