// Reads the records of one table. A record that cannot be read ends the table, since nothing after it can be found; a record that is
// wrong in itself is reported and left out.
import { type Cursor, toSafe } from '../../../bytes/index.js'
import type { MovingWindow } from '../../../bytes/moving-window.js'
import type { DType } from '../../../dtypes/index.js'
import { shapeOfDims } from '../../../model/dims.js'
import type { Lost, ReadContext } from '../../../model/index.js'
import { codes, type OinfCode } from '../codes.js'
import type { Header, TableName } from '../header.js'
import { NameList, type Names } from '../name-list.js'
import { unescapeKey, unescapeName } from '../names.js'
import type { MetadataRecord, Range, TensorRecord } from '../records.js'
import { readText } from '../strings.js'
import {
  dataFields,
  hasData,
  hasQuant,
  metadataFields,
  quantFields,
  sizevarFields,
  stringSize,
  tensorFields,
} from '../structs.js'
import { TableWindow } from '../table-window.js'
import { bitsetTag, dtypeByTag, ndarrayTag, stringTag } from '../types.js'
import { UsualRecords } from '../usual-records.js'
import { type Bounds, checkData, checkRange } from './stated-range.js'

/** What a record takes at least. */
export const smallest: Readonly<Record<TableName, number>> = {
  sizevars: stringSize(1) + sizevarFields.size,
  metadata: stringSize(1) + metadataFields.size,
  tensors: stringSize(1) + tensorFields.size + dataFields.size,
}

const duplicates = {
  sizevars: codes['duplicate-sizevar'],
  metadata: codes['duplicate-metadata'],
  tensors: codes['duplicate-tensor'],
} as const

export class RecordReader {
  complete = false
  readonly #window: TableWindow
  readonly #table: TableName
  readonly #header: Header
  readonly #context: ReadContext
  readonly #bounds: Bounds
  /** Set when the rest of the table cannot be found. */
  #lost = false

  constructor(window: MovingWindow, table: TableName, header: Header, context: ReadContext) {
    this.#window = new TableWindow(window, table, header, context)
    this.#table = table
    this.#header = header
    this.#context = context
    this.#bounds = { ...header, complain: (...details) => this.#complain(...details) }
  }

  get cursor(): Cursor {
    return this.#window.cursor
  }

  /**
   * Calls `readRecord` after each name, or `takeUsual` after a whole record; returns how many records were refused. `known` are the names of
   * those that were not.
   */
  async readAll(
    known: Names,
    readRecord: (reader: RecordReader, name: string, index: number) => boolean,
    takeUsual?: (record: TensorRecord) => void,
  ): Promise<number> {
    const { count, offset, end } = this.#header.tables[this.#table]
    if (count * smallest[this.#table] > end - offset) {
      const message = `${count} records take ${count * smallest[this.#table]} bytes at least, the table has ${end - offset}`
      this.#context.report.report(codes.count, { offset, path: this.#table, message })
      return count
    }
    const table = this.#window
    const names = new NameList(known)
    const usual = takeUsual && !this.#context.extents ? new UsualRecords(this.#header) : undefined
    let refused = 0
    for (let i = 0; i < count; i++) {
      for (let length = table.missing(); length > 0; length = table.missing()) await table.reach(length)
      const { cursor } = table
      const { offset: at, position } = cursor
      const record = usual?.take(cursor.view, position, i)
      if (record) cursor.seek(at + usual!.position - position)
      else cursor.enter(this.#table, i)
      const name = record ? record.name : this.#name()
      if (name !== undefined && names.isRepeated(name)) {
        const message = `${JSON.stringify(name)} was there before`
        this.#context.report.report(duplicates[this.#table], { offset: at, path: `${this.#table}[${i}]`, message })
      }
      if (record) {
        takeUsual!(record)
        continue
      }
      const isGood = name !== undefined && readRecord(this, name, i)
      cursor.leave(2)
      if (!isGood && name !== undefined) names.leaveOut(name)
      if (!isGood) refused++
      if (this.#lost) return refused + count - i - 1
    }
    this.complete = true
    return refused
  }

  /** Whether the record has that many bytes left in its table; if not, the table ends here. */
  #has(length: number, field = ''): boolean {
    if (length <= this.#window.remaining) return true
    const message = `${length} bytes are needed, the table ends ${this.#window.remaining} bytes further on`
    this.#complain('table-overrun', this.cursor.offset, field, message)
    this.#lost = true
    return false
  }

  #complain(code: OinfCode, offset: number, field: string, message: string): false {
    this.#context.report.report(codes[code], { offset, path: this.cursor.pathOf(field), message })
    return false
  }

  #name(): string | undefined {
    const { cursor } = this
    const { report, extents } = this.#context
    const field = this.#table === 'metadata' ? 'key' : 'name'
    if (!this.#has(4, field)) return undefined
    const at = cursor.offset
    cursor.enter(field)
    const length = cursor.u32('length')
    cursor.leave()
    const rest = this.#header.end - cursor.offset
    if (length > rest) {
      this.#complain('string-length', at, field, `${length} bytes of text, but the file ends ${rest} bytes further on`)
      this.#lost = true
      return undefined
    }
    const padding = stringSize(length) - 4 - length
    if (!this.#has(length + padding, field)) return undefined
    const offset = cursor.offset
    const text = readText(cursor.take(length, field), offset, () => cursor.pathOf(field), report)
    extents?.add({ file: report.file, offset, length, path: cursor.pathOf(field), kind: 'field', value: text })
    this.#padding(padding, field)
    return text
  }

  #padding(length: number, field: string): void {
    if (length === 0) return
    const { report, extents } = this.#context
    const { cursor } = this
    const { offset } = cursor
    const isClean = cursor.take(length, field).every((byte) => byte === 0)
    extents?.add({ file: report.file, offset, length, path: cursor.pathOf(field), kind: 'padding' })
    if (!isClean) this.#complain('padding', offset, field, 'the padding after the text is not 0')
  }

  sizevar(): bigint | undefined {
    return this.#has(sizevarFields.size) ? sizevarFields.read(this.cursor).value : undefined
  }

  metadata(key: string, index: number): MetadataRecord | undefined {
    if (!this.#has(metadataFields.size)) return undefined
    const at = this.cursor.offset
    const { valueType, valueFlags, valueNbytes, valueOffset } = metadataFields.read(this.cursor)
    const placeOf = (field: 'valueType' | 'valueFlags'): number => at + metadataFields.offsetOf(field)
    const known = dtypeByTag.has(valueType) || valueType === stringTag || valueType === ndarrayTag
    if (!known) this.#complain('metadata-type', placeOf('valueType'), 'value_type', `there is no type ${valueType}`)
    if (valueFlags !== 0)
      this.#complain('metadata-flags', placeOf('valueFlags'), 'value_flags', `0 was expected, ${valueFlags} found`)
    const range = checkRange(
      'metadata',
      { length: valueNbytes, offset: valueOffset, at: at + metadataFields.offsetOf('valueNbytes') },
      this.#bounds,
    )
    if (!range) this.#leaveOut('metadata', unescapeKey(key), valueNbytes)
    return known && range ? { index, key, type: valueType, ...range } : undefined
  }

  tensor(name: string, index: number): TensorRecord | undefined {
    const { cursor } = this
    if (!this.#has(tensorFields.size)) return undefined
    const at = cursor.offset
    const { dtype: tag, ndim, flags } = tensorFields.read(cursor)
    const isV2 = this.#header.version === 2
    const rest = dataFields.size + (isV2 ? quantFields.size : 0)
    if (8 * ndim + rest > this.#window.remaining) {
      const message = `${ndim} dimensions do not fit, the table ends ${this.#window.remaining} bytes further on`
      this.#complain(8 * ndim > this.#window.remaining ? 'tensor-dims' : 'table-overrun', at + 4, 'ndim', message)
      this.#lost = true
      return undefined
    }
    const described = shapeOfDims(this.#dims(ndim))
    const rangesAt = cursor.offset
    const { dataNbytes, dataOffset } = dataFields.read(cursor)
    const quant = isV2 ? quantFields.read(cursor) : undefined
    const dtype = this.#type(tag, at)
    if (!this.#flags(flags, at + tensorFields.offsetOf('flags')) || !dtype) return undefined

    const dataRange = checkData(
      { dtype, ...described, present: (flags & hasData) !== 0 },
      { length: dataNbytes, offset: dataOffset, at: rangesAt },
      this.#bounds,
    )
    if (!dataRange.ok) return this.#leaveOut('tensor', unescapeName(name).text, dataNbytes)
    let quantRange: Range | undefined
    if (quant) {
      const quantAt = rangesAt + dataFields.size
      const { quantNbytes, quantOffset } = quant
      if ((flags & hasQuant) === 0) {
        if (quantNbytes !== 0n || quantOffset !== 0n) {
          const message = `${quantNbytes} bytes at ${quantOffset}, but the tensor is not marked as quantized`
          this.#complain('quant-no-flag', quantAt, 'quant_nbytes', message)
          return undefined
        }
      } else {
        quantRange = checkRange('quant', { length: quantNbytes, offset: quantOffset, at: quantAt }, this.#bounds)
        if (!quantRange) return this.#leaveOut('tensor', unescapeName(name).text, dataNbytes)
      }
    }
    return { index, name, dtype, ...described, data: dataRange.range, quant: quantRange }
  }

  #leaveOut(subject: Lost['subject'], name: string, length: bigint): undefined {
    const reason = `its bytes are not between ${this.#bounds.offsetData} and ${this.#bounds.end}, where the data are`
    this.#context.onLost?.({ subject, name, length: toSafe(length), reason })
  }

  /** Beyond 2^53-1 as they are: a tensor without data, or without elements, may have any. */
  #dims(ndim: number): (number | bigint)[] {
    const { cursor } = this
    const dims: (number | bigint)[] = []
    cursor.enter('dims')
    for (let i = 0; i < ndim; i++) {
      cursor.enter(i)
      const dim = cursor.u64('')
      cursor.leave()
      dims.push(toSafe(dim) ?? dim)
    }
    cursor.leave()
    return dims
  }

  #type(tag: number, at: number): DType | undefined {
    const dtype = dtypeByTag.get(tag)
    if (!dtype) this.#complain('tensor-type', at, 'dtype', `a tensor cannot have type ${tag}`)
    if (tag === bitsetTag)
      this.#complain(
        'tensor-bitset',
        at,
        'dtype',
        'the reference tools refuse tensors of bitsets; one byte per element',
      )
    return dtype
  }

  #flags(flags: number, at: number): boolean {
    const isV2 = this.#header.version === 2
    const unknown = flags - (flags & (isV2 ? hasData + hasQuant : hasData))
    if (unknown === 0) return true
    const message = `flags 0x${flags.toString(16)} have bits that version ${this.#header.version} does not know`
    return this.#complain(isV2 ? 'tensor-flags' : 'tensor-flags-unknown', at, 'flags', message) || !isV2
  }
}
