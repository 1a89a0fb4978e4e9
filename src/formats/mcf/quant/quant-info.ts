// The QuantInfo section says for quantized tensors which method made them and which range their values were cut to. Nothing of it is
// needed to decode them. A record names its tensor by position (document: one record per entry; reference: quantized tensors only).
import { type ByteSource, Cursor, type StructValues } from '../../../bytes/index.js'
import { methods } from '../../../dtypes/mcf/types.js'
import type { Code } from '../../../errors/index.js'
import type { ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'
import type { Section } from '../sections.js'
import { quantHeader, quantRecord } from '../structs.js'

type RecordValues = StructValues<typeof quantRecord>

export interface FoundRecord extends Omit<RecordValues, 'blockSize' | 'superSize' | 'reserved'> {
  readonly index: number
  /** File offset of the record. */
  readonly at: number
}

/** The records that have nothing wrong about them. They stay in the bytes of the section: there can be one for each tensor. */
class Records {
  readonly #cursor: Cursor
  readonly #start: number
  readonly #indexes: Uint32Array
  #length = 0

  /** The cursor stands at the first of `most` records. */
  constructor({ bytes, offset, position, report }: Cursor, most: number) {
    this.#cursor = new Cursor(bytes.subarray(position), report, { base: offset })
    this.#start = offset
    this.#indexes = new Uint32Array(most)
  }

  add(index: number): void {
    this.#indexes[this.#length++] = index
  }

  *[Symbol.iterator](): Generator<FoundRecord, void, void> {
    for (let i = 0; i < this.#length; i++) {
      const index = this.#indexes[i]!
      const at = this.#start + index * quantRecord.size
      this.#cursor.seek(at)
      const { tensorIndex, method, domain, minClip, maxClip } = quantRecord.read(this.#cursor)
      yield { tensorIndex, method, domain, minClip, maxClip, index, at }
    }
  }
}

const methodByCode = new Map(methods.map((method) => [method.code, method]))

export async function readQuantInfo(
  source: ByteSource,
  section: Section,
  context: ReadContext,
): Promise<Iterable<FoundRecord>> {
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

function readRecords(cursor: Cursor, count: number, { report }: ReadContext): Records {
  const records = new Records(cursor, count)
  for (let index = 0; index < count; index++) {
    const at = cursor.offset
    cursor.enter('records', index)
    const record = quantRecord.read(cursor)
    cursor.leave(2)
    const wrong = recordFault(record)
    if (!wrong) records.add(index)
    else {
      const name = wrong.field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
      report.report(wrong.code, {
        offset: at + quantRecord.offsetOf(wrong.field),
        path: `quant_info.records[${index}].${name}`,
        message: wrong.message,
      })
    }
    if (!(record.minClip <= record.maxClip)) {
      const offset = at + quantRecord.offsetOf('minClip')
      const message = `values were cut to ${record.minClip} .. ${record.maxClip}, which is no range`
      report.report(codes['quantinfo-clip'], { offset, length: 8, path: `quant_info.records[${index}]`, message })
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
