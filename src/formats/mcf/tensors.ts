// From entries of the index to tensors: element type, shape and place must agree. A block-quantized tensor has rules of its own, which
// the reference applies to the whole file at once; everything else it only looks at when a tensor is read.
import { type ByteSource, countElements, toSafe } from '../../bytes/index.js'
import type { DType } from '../../dtypes/index.js'
import { isBareCodes } from '../../dtypes/mcf/layout.js'
import { methodOf } from '../../dtypes/mcf/types.js'
import type { Code } from '../../errors/index.js'
import { type ReadContext, rangePayload, type Tensor } from '../../model/index.js'
import { codes } from './codes.js'
import { dtypeOfCode } from './dtypes.js'
import type { Entry } from './entry.js'
import { reportTensor, reportToVerifier } from './report.js'
import type { Section } from './sections.js'
import { indexEntry } from './structs.js'

export const isBlockType = (dtype: DType): boolean => {
  const family = methodOf(dtype.id)?.family
  return family === 'q' || family === 'k'
}

/** Quantized payloads begin on a multiple of 64; for int* only the document wants it. */
export const needsAlignment = (dtype: DType): boolean => methodOf(dtype.id) !== undefined

interface Fault {
  readonly code: Code
  readonly field: keyof Entry & string
  readonly message: string
}

/** The tensor of an entry; undefined when it was reported and cannot be listed. */
export function toTensor(entry: Entry, source: ByteSource, data: Section, context: ReadContext): Tensor | undefined {
  const fault = findFault(entry, source.size, data)
  const dtype = dtypeOfCode(entry.dtype)
  if (fault) {
    reportTensor(context, fault.code, place(entry, fault.field, fault.message))
    if (!dtype || !context.report.strict || entry.shape.some((dim) => toSafe(dim) === undefined)) return undefined
  }
  const tensor = {
    name: entry.name,
    ...(entry.rawName && { rawName: [entry.rawName] }),
    dtype: dtype!,
    shape: entry.shape.map(Number),
    order: 'row' as const,
    role: 'weight' as const,
  }
  if (fault) return { ...tensor, data: null }
  const [offset, size] = [Number(entry.dataOff), Number(entry.dataSize)]
  reportBareCodes(entry, tensor.dtype, tensor.shape, size, context)
  const path = `data[${JSON.stringify(entry.name)}]`
  context.extents?.add({ file: source.name, offset, length: size, path, kind: 'data' })
  return { ...tensor, data: rangePayload(source, offset, size) }
}

function place(entry: Entry, field: keyof Entry & string, message: string) {
  const isShape = field === 'shape'
  const offset = entry.at + (isShape ? indexEntry.offsetOf('dimOff') : indexEntry.offsetOf(field as 'dtype'))
  const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const path = `tensor_index.entries[${entry.index}].${name}`
  return { offset, path, message: `${JSON.stringify(entry.name)}: ${message}` }
}

function findFault(entry: Entry, fileSize: number, data: Section): Fault | undefined {
  const dtype = dtypeOfCode(entry.dtype)
  return (
    (dtype && isBlockType(dtype) ? blockFault(entry, dtype) : shapeFault(entry)) ??
    placeFault(entry, fileSize, data) ??
    typeFault(entry, dtype)
  )
}

const dimensions = (entry: Entry): string => `[${entry.shape.join(', ')}]`

function blockFault(entry: Entry, dtype: DType): Fault | undefined {
  const { shape, dataOff, dataSize } = entry
  const what = `${dimensions(entry)} of ${dtype.id}`
  if (shape.length !== 2)
    return { code: codes['quant-rank-not-2'], field: 'rank', message: `${what} is no matrix, but must be one` }
  if (shape.includes(0n))
    return { code: codes['quant-zero-dim'], field: 'shape', message: `${what} has a dimension of 0` }
  const size = shape.some((dim) => toSafe(dim) === undefined) ? undefined : dtype.byteLength(shape.map(Number))
  if (size === undefined) {
    const message = `${what} takes more than any file can hold`
    return { code: codes['quant-payload-size-overflow'], field: 'shape', message }
  }
  if (dataOff % 64n !== 0n) {
    const message = `the payload begins at ${dataOff}, which is no multiple of 64`
    return { code: codes['quant-payload-alignment-64'], field: 'dataOff', message }
  }
  if (dataSize === BigInt(size)) return undefined
  return {
    code: codes['quant-payload-size'],
    field: 'dataSize',
    message: `${dataSize} bytes, but ${what} takes ${size}`,
  }
}

function shapeFault(entry: Entry): Fault | undefined {
  const { shape } = entry
  if (shape.includes(0n))
    return { code: codes['read-zero-dim'], field: 'shape', message: `${dimensions(entry)} has a dimension of 0` }
  if (!shape.some((dim) => dim > 2n ** 63n - 1n)) return undefined
  return {
    code: codes['read-dim-too-large'],
    field: 'shape',
    message: `${dimensions(entry)} has a dimension above 2^63-1`,
  }
}

function placeFault({ dataOff, dataSize }: Entry, fileSize: number, data: Section): Fault | undefined {
  const end = dataOff + dataSize
  if (end > BigInt(fileSize)) {
    const message = `the data from ${dataOff} to ${end} runs past the end of the file at ${fileSize}`
    return { code: codes['read-outside-file'], field: 'dataOff', message }
  }
  if (dataOff >= BigInt(data.offset) && end <= BigInt(data.offset + data.size)) return undefined
  const message = `the data from ${dataOff} to ${end} is outside of TensorData, ${data.offset} to ${data.offset + data.size}`
  return { code: codes['read-outside-tensordata'], field: 'dataOff', message }
}

function typeFault(entry: Entry, dtype: DType | undefined): Fault | undefined {
  const { shape, dataSize } = entry
  const isSafe = shape.every((dim) => toSafe(dim) !== undefined)
  const dims = shape.map(Number)
  if (!isSafe || countElements(dims) === undefined) {
    const message = `${dimensions(entry)} is more than any file can hold`
    return { code: codes['read-element-count-overflow'], field: 'shape', message }
  }
  if (!dtype) {
    const message = `there is no element type 0x${entry.dtype.toString(16)}`
    return { code: codes['unsupported-dtype-on-read'], field: 'dtype', message }
  }
  const method = methodOf(dtype.id)
  const size = Number(dataSize)
  if (method && isBareCodes(method, dims, size)) return undefined
  const fits = dtype.regions ? dtype.regions.refusal(dims, size) === undefined : dtype.byteLength(dims) === size
  if (fits) return undefined
  const wanted = dtype.byteLength(dims)
  const other = dtype.regions ? ` (or ${wanted! + 64} with a zero point)` : ''
  const message = `${dataSize} bytes, but ${dimensions(entry)} of ${dtype.id} takes ${wanted}${other}`
  return { code: codes['read-size-mismatch'], field: 'dataSize', message }
}

function reportBareCodes(
  entry: Entry,
  dtype: DType,
  shape: readonly number[],
  size: number,
  context: ReadContext,
): void {
  const method = methodOf(dtype.id)
  if (!method || !isBareCodes(method, shape, size)) return
  const message = `${size} bytes are the codes of ${dimensions(entry)} alone; the scale is lost`
  reportToVerifier(context, codes['bare-codes'], place(entry, 'dataSize', message))
}
