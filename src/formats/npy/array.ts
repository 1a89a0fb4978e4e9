// An array as a tensor: what the NPY header says, and where the elements are. The same for a file of its own and for a member of an
// archive.
import { countElements, type ExtentRecorder } from '../../bytes/index.js'
import { type DType, dtypeById, packed } from '../../dtypes/index.js'
import type { Report } from '../../errors/index.js'
import type { Payload, ReadContext, Tensor } from '../../model/index.js'
import { swappedPayload } from '../../model/swapped-payload.js'
import type { NpyHeader } from '../../wire/npy-parse.js'
import { arrayCodes as codes } from './codes.js'

/** Where an array lies: a file, or the content of a member. */
export interface ArrayPlace {
  /** All bytes of it, header included. */
  readonly size: number
  /** Gives findings their place in the file. */
  readonly report: Report
  readonly onLost?: ReadContext['onLost']
  payload(offset: number, length: number): Payload
}

/** Undefined when it was reported that elements are missing. */
export function tensorOf(name: string, header: NpyHeader, place: ArrayPlace): Tensor | undefined {
  const { descr, shape, itemSize, dataOffset, bigEndian } = header
  const { report } = place
  const length = (shape.includes(0) ? 0 : countElements(shape)!) * itemSize
  const end = dataOffset + length
  const type = `[${shape.join(', ')}] of ${JSON.stringify(descr)}`
  if (end > place.size) {
    const message = `${type} takes ${length} bytes, ${place.size - dataOffset} are there`
    report.report(codes['data-truncated'], {
      offset: dataOffset,
      length: place.size - dataOffset,
      path: 'data',
      message,
    })
    place.onLost?.({ subject: 'tensor', name, length, reason: message })
    return undefined
  }
  if (end < place.size) {
    const message = `${place.size - end} bytes come after ${type}`
    report.report(codes['trailing-bytes'], { offset: end, length: place.size - end, path: 'data', message })
  }
  const dtype = header.dtype === undefined ? undefined : dtypeById(header.dtype)
  const stored = place.payload(dataOffset, length)
  const order = header.fortranOrder ? ('column' as const) : ('row' as const)
  const role = 'weight' as const
  if (dtype)
    return { name, shape, order, role, dtype, data: bigEndian ? swappedPayload(stored, swapWidth(dtype)) : stored }
  const hint = /V[12]$/.test(descr) ? '; extension packages save bfloat16 and 8-bit floats this way' : ''
  const message = `the type ${JSON.stringify(descr)} is kept as bytes of unknown meaning${hint}`
  report.report(codes['foreign-type'], { offset: header.textOffset, path: 'header.descr', message })
  return { name, shape, order, role, dtype: packed, data: stored, extra: { descr } }
}

/** The two parts of a complex number are swapped one by one. */
const swapWidth = (dtype: DType): number => (dtype.kind === 'complex' ? dtype.group.bytes / 2 : dtype.group.bytes)

/** The byte map of an array whose bytes start at `base` of the file. */
export function recordArray(
  extents: ExtentRecorder | undefined,
  file: string,
  base: number,
  size: number,
  header: NpyHeader,
  tensor: Tensor | undefined,
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
  const length = tensor?.data?.byteLength ?? size - dataOffset
  extents.add({ file, offset: base + dataOffset, length, path: `${prefix}data`, kind: 'data' })
}
