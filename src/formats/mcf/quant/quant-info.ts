// The QuantInfo section says for quantized tensors which method made them and which range their values were cut to. Nothing of it is
// needed to decode them. A record names its tensor by position (document: one record per entry; reference: quantized tensors only).
import { type ByteSource, Cursor, type StructValues } from '../../../bytes/index.js'
import { methodOf, methods, type QuantInfo } from '../../../dtypes/mcf/types.js'
import type { Code } from '../../../errors/index.js'
import type { ReadContext, Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import type { Section } from '../sections.js'
import { quantHeader, quantRecord } from '../structs.js'

type RecordValues = StructValues<typeof quantRecord>

export interface QuantRecord extends RecordValues {
  readonly index: number
  /** File offset of the record. */
  readonly at: number
}

const methodByCode = new Map(methods.map((method) => [method.code, method]))

/** The records that have nothing wrong about them. */
export async function readQuantInfo(
  source: ByteSource,
  section: Section,
  context: ReadContext,
): Promise<QuantRecord[]> {
  const { report, extents } = context
  const whole = { offset: section.offset, length: section.size, path: 'quant_info' }
  if (section.size === 0) report.fail(codes['store-empty-quantinfo'], { ...whole, message: 'the section is empty' })
  if (section.size < quantHeader.size) {
    const message = `${section.size} bytes, the header takes ${quantHeader.size}`
    report.fail(codes['quantinfo-too-short'], { ...whole, message })
  }
  if (section.size > context.limits.indexBytes) {
    const message = `the section takes ${section.size} bytes, the limit is ${context.limits.indexBytes}`
    report.fail(codes['index-over-limit'], { ...whole, message })
  }
  const bytes = await source.read(section.offset, section.size, { signal: context.signal })
  const cursor = new Cursor(bytes, report, { base: section.offset, extents, path: ['quant_info'] })
  const { version, recordCount } = quantHeader.read(cursor)
  if (version !== 1) {
    const message = `version ${version}, only 1 is known`
    report.fail(codes['quantinfo-version'], { offset: section.offset, length: 4, path: 'quant_info.version', message })
  }
  if (recordCount * quantRecord.size > cursor.remaining) {
    const message = `${recordCount} records take ${recordCount * quantRecord.size} bytes, ${cursor.remaining} are left`
    const place = { offset: section.offset + 4, length: 4, path: 'quant_info.record_count' }
    report.fail(codes['quantinfo-records-out-of-bounds'], { ...place, message })
  }
  const records = readRecords(cursor, recordCount, context)
  if (cursor.remaining > 0) {
    const place = { offset: cursor.offset, length: cursor.remaining, path: 'quant_info.trailing' }
    report.report(codes['quantinfo-trailing-bytes'], { ...place, message: `${place.length} bytes follow the records` })
    extents?.add({ file: report.file, ...place, kind: 'field' })
  }
  return records
}

function readRecords(cursor: Cursor, count: number, { report }: ReadContext): QuantRecord[] {
  const records: QuantRecord[] = []
  for (let index = 0; index < count; index++) {
    const at = cursor.offset
    cursor.enter('records', index)
    const record = quantRecord.read(cursor)
    cursor.leave(2)
    const path = `quant_info.records[${index}]`
    const fault = recordFault(record)
    if (!fault) records.push({ ...record, index, at })
    else {
      const { code, field, message } = fault
      const place = { offset: at + quantRecord.offsetOf(field), path: `${path}.${quantRecord.nameOf(field)}` }
      report.report(code, { ...place, message })
    }
    if (!(record.minClip <= record.maxClip)) {
      const offset = at + quantRecord.offsetOf('minClip')
      const message = `values were cut to ${record.minClip} .. ${record.maxClip}, which is not a range`
      report.report(codes['quantinfo-clip'], { offset, length: 8, path, message })
    }
  }
  return records
}

interface RecordFault {
  readonly code: Code
  readonly field: keyof RecordValues & string
  readonly message: string
}

function recordFault(record: RecordValues): RecordFault | undefined {
  const { domain, blockSize, superSize } = record
  if (record.reserved.some((byte) => byte !== 0))
    return { code: codes['quantinfo-reserved-nonzero'], field: 'reserved', message: 'reserved bytes are not zero' }
  if (domain > 1)
    return { code: codes['quantinfo-domain-invalid'], field: 'domain', message: `the domain is ${domain}` }
  const method = methodByCode.get(record.method)
  if (!method) {
    const message = `there is no method 0x${record.method.toString(16)}`
    return { code: codes['quantinfo-method-unknown'], field: 'method', message }
  }
  if (method.family === 'int') {
    if (blockSize === 0 && superSize === 0) return undefined
    const message = `${method.id} with block size ${blockSize} and super size ${superSize}`
    return { code: codes['quantinfo-int-needs-zero-sizes'], field: 'blockSize', message }
  }
  if (domain !== 0) {
    const message = `${method.id} for activations`
    return { code: codes['quantinfo-block-method-needs-weights'], field: 'domain', message }
  }
  if (blockSize !== 32)
    return { code: codes['quantinfo-block-size'], field: 'blockSize', message: `the block size is ${blockSize}` }
  const wanted = method.family === 'k' ? 256 : 0
  if (superSize === wanted) return undefined
  const message = `${method.id} with super size ${superSize}, it must be ${wanted}`
  return { code: codes['quantinfo-super-size'], field: 'superSize', message }
}

/** One record per quantized tensor that has something to say. Without records there is no section, unless `evenEmpty` asks for one. */
export function encodeQuantInfo(tensors: readonly Tensor[], evenEmpty: boolean): Uint8Array | undefined {
  const records = tensors.flatMap((tensor, tensorIndex) => {
    const method = methodOf(tensor.dtype.id)
    const info = tensor.extra?.quantInfo as QuantInfo | undefined
    return method && info ? [{ tensorIndex, method, info }] : []
  })
  if (records.length === 0 && !evenEmpty) return undefined
  const bytes = new Uint8Array(quantHeader.size + records.length * quantRecord.size)
  const view = new DataView(bytes.buffer)
  quantHeader.writeInto(view, 0, { version: 1, recordCount: records.length })
  for (const [i, { tensorIndex, method, info }] of records.entries()) {
    quantRecord.writeInto(view, quantHeader.size + i * quantRecord.size, {
      tensorIndex,
      method: method.code,
      domain: info.domain === 'activations' ? 1 : 0,
      blockSize: method.family === 'int' ? 0 : 32,
      superSize: method.family === 'k' ? 256 : 0,
      reserved: new Uint8Array(6),
      minClip: Number(info.minClip),
      maxClip: Number(info.maxClip),
    })
  }
  return bytes
}
