// From entries of the index to tensors: element type, shape and place must agree. A block-quantized tensor has rules of its own, which
// the reference applies to the whole file at once; everything else it only looks at when a tensor is read.
import { type ByteSource, countElements, type StructValues } from '../../../bytes/index.js'
import type { DType } from '../../../dtypes/index.js'
import { isBareCodes } from '../../../dtypes/mcf/layout.js'
import { methodOf } from '../../../dtypes/mcf/types.js'
import type { Code } from '../../../errors/index.js'
import type { ReadContext, Tensor } from '../../../model/index.js'
import { RangePayload } from '../../../model/payload.js'
import { codes } from '../codes.js'
import { dtypeOfCode, isBlockType } from '../dtypes.js'
import { reportTensor, reportToVerifier } from '../report.js'
import type { Section } from '../sections.js'
import { indexEntry } from '../structs.js'
import type { Entry } from './tensor-index.js'

interface Fault {
  readonly code: Code
  readonly field: keyof StructValues<typeof indexEntry> & string
  readonly message: string
}

/** The tensor of an entry; undefined when it was reported and cannot be listed. */
export function toTensor(entry: Entry, source: ByteSource, section: Section, context: ReadContext): Tensor | undefined {
  const { name, rawName, fields } = entry
  const dtype = dtypeOfCode(fields.dtype)
  const shape = isSafe(entry.shape) ? entry.shape : undefined
  const fault = findFault(entry, dtype, shape, source.size, section)
  if (fault) {
    reportTensor(context, fault.code, place(entry, fault.field, fault.message))
    const length = typeof fields.dataSize === 'number' ? fields.dataSize : undefined
    context.onLost?.({ subject: 'tensor', name, length, reason: fault.message })
  }
  if (!dtype || !shape || (fault && !context.report.strict)) return undefined
  const offset = Number(fields.dataOff)
  const length = Number(fields.dataSize)
  const data = fault ? null : new RangePayload(source, offset, length)
  const plain: Tensor = { name, dtype, shape, order: 'row', role: 'weight', data }
  const tensor = rawName ? { ...plain, rawName: [rawName] } : plain
  if (fault) return tensor
  if (dtype.regions) reportBareCodes(entry, dtype, shape, context)
  const { extents } = context
  if (extents) extents.add({ file: source.name, offset, length, path: `data[${JSON.stringify(name)}]`, kind: 'data' })
  return tensor
}

const isSafe = (shape: Entry['shape']): shape is readonly number[] => shape.every((dim) => typeof dim === 'number')

function place(entry: Entry, field: Fault['field'], message: string) {
  const offset = entry.at + indexEntry.offsetOf(field)
  const path = `tensor_index.entries[${entry.index}].${indexEntry.nameOf(field)}`
  return { offset, path, message: `${JSON.stringify(entry.name)}: ${message}` }
}

/** `shape` is undefined when a dimension is too large for any file. */
function findFault(
  entry: Entry,
  dtype: DType | undefined,
  shape: readonly number[] | undefined,
  fileSize: number,
  data: Section,
): Fault | undefined {
  return (
    (dtype && isBlockType(dtype) ? blockFault(entry, dtype, shape) : shapeFault(entry, shape)) ??
    placeFault(entry, fileSize, data) ??
    typeFault(entry, dtype, shape)
  )
}

const dimensions = (entry: Entry): string => `[${entry.shape.join(', ')}]`

function blockFault(entry: Entry, dtype: DType, shape: readonly number[] | undefined): Fault | undefined {
  const { dataOff, dataSize } = entry.fields
  const what = (): string => `${dimensions(entry)} of ${dtype.id}`
  if (entry.shape.length !== 2)
    return { code: codes['quant-rank-not-2'], field: 'rank', message: `${what()} is not a matrix, but must be one` }
  if (entry.shape.includes(0))
    return { code: codes['quant-zero-dim'], field: 'dimOff', message: `${what()} has a dimension of 0` }
  const size = shape && dtype.byteLength(shape)
  if (size === undefined) {
    const message = `${what()} takes more than any file can hold`
    return { code: codes['quant-payload-size-overflow'], field: 'dimOff', message }
  }
  if (BigInt(dataOff) % 64n !== 0n) {
    const message = `the payload begins at ${dataOff}, which is not a multiple of 64`
    return { code: codes['quant-payload-alignment-64'], field: 'dataOff', message }
  }
  if (dataSize === size) return undefined
  const message = `${dataSize} bytes, but ${what()} takes ${size}`
  return { code: codes['quant-payload-size'], field: 'dataSize', message }
}

function shapeFault(entry: Entry, shape: readonly number[] | undefined): Fault | undefined {
  if (entry.shape.includes(0))
    return { code: codes['read-zero-dim'], field: 'dimOff', message: `${dimensions(entry)} has a dimension of 0` }
  if (shape || !entry.shape.some((dim) => dim >= 2n ** 63n)) return undefined
  const message = `${dimensions(entry)} has a dimension above 2^63-1`
  return { code: codes['read-dim-too-large'], field: 'dimOff', message }
}

function placeFault({ fields }: Entry, fileSize: number, data: Section): Fault | undefined {
  const { dataOff, dataSize } = fields
  // Beyond 2^53 these are rounded, which is still far outside of the file.
  const [start, end] = [Number(dataOff), Number(dataOff) + Number(dataSize)]
  if (end > fileSize) {
    const message = `the data from ${dataOff} to ${BigInt(dataOff) + BigInt(dataSize)} runs past the end of the file at ${fileSize}`
    return { code: codes['read-outside-file'], field: 'dataOff', message }
  }
  if (start >= data.offset && end <= data.offset + data.size) return undefined
  const message = `the data from ${start} to ${end} is outside of TensorData, ${data.offset} to ${data.offset + data.size}`
  return { code: codes['read-outside-tensordata'], field: 'dataOff', message }
}

function typeFault(entry: Entry, dtype: DType | undefined, shape: readonly number[] | undefined): Fault | undefined {
  if (!shape || countElements(shape) === undefined) {
    const message = `${dimensions(entry)} is more than any file can hold`
    return { code: codes['read-element-count-overflow'], field: 'dimOff', message }
  }
  if (!dtype) {
    const message = `there is no element type 0x${entry.fields.dtype.toString(16)}`
    return { code: codes['unsupported-dtype-on-read'], field: 'dtype', message }
  }
  const size = Number(entry.fields.dataSize)
  const wanted = dtype.byteLength(shape)
  // Codes alone are readable as bytes, though not as values.
  if (size === wanted || dtype.regions?.isKnownSize(shape, size)) return undefined
  const other = dtype.regions ? ` (or ${wanted! + 64} with a zero point)` : ''
  const message = `${size} bytes, but ${dimensions(entry)} of ${dtype.id} takes ${wanted}${other}`
  return { code: codes['read-size-mismatch'], field: 'dataSize', message }
}

function reportBareCodes(entry: Entry, dtype: DType, shape: readonly number[], context: ReadContext): void {
  const size = Number(entry.fields.dataSize)
  if (!isBareCodes(methodOf(dtype.id)!, shape, size)) return
  const message = `${size} bytes are the codes of ${dimensions(entry)} alone; the scale is lost`
  reportToVerifier(context, codes['bare-codes'], place(entry, 'dataSize', message))
}
