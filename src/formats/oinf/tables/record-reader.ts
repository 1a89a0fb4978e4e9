// Reads the records of one table. A record that cannot be read ends the table, since nothing after it can be found; a record that is
// wrong in itself is reported and left out.
import { type ByteSource, Cursor, wideAt } from '../../../bytes/index.js'
import type { DType } from '../../../dtypes/index.js'
import type { Lost, ReadContext } from '../../../model/index.js'
import { type Shape, shapeOfDims } from '../../../model/model.js'
import { codes, type OinfCode } from '../codes.js'
import type { Header, TableName } from '../header.js'
import { unescapeKey, unescapeName } from '../names.js'
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
import { bitsetTag, dtypeByTag, ndarrayTag, stringTag } from '../types.js'
import {
  type Bounds,
  checkData,
  checkRange,
  type MetadataRecord,
  type StoredTensor,
  TensorData,
  toRange,
  type ValueRange,
} from './records.js'

/** What a record takes at least. */
const minSize: Readonly<Record<TableName, number>> = {
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
  /** How many records were left out. */
  refused = 0
  /** Where the table ends; undefined when it could not be read to its end. */
  end: number | undefined
  /** Where the quantization of tensors is. */
  readonly quants = new Map<StoredTensor, ValueRange>()
  readonly #source: ByteSource
  readonly #cursor: Cursor
  readonly #table: TableName
  readonly #header: Header
  readonly #context: ReadContext
  readonly #bounds: Bounds
  readonly #nameField: string
  readonly #lengthField: string
  /** Position of the record in the table. */
  #index = 0
  #lastDims: Shape = { shape: [] }
  /** Set when the rest of the table cannot be found. */
  #isLost = false

  /** `index` are the bytes of the file up to the data section. */
  constructor(source: ByteSource, index: Uint8Array, table: TableName, header: Header, context: ReadContext) {
    const { offset, end } = header.tables[table]
    const { report, extents } = context
    this.#cursor = new Cursor(index.subarray(offset, end), report, { base: offset, extents })
    this.#source = source
    this.#table = table
    this.#header = header
    this.#context = context
    this.#nameField = table === 'metadata' ? 'key' : 'name'
    this.#lengthField = `${this.#nameField}.length`
    this.#bounds = {
      offsetData: header.offsetData,
      end: header.end,
      complain: (code, place, field, message) => this.#complain(code, place, field, message),
    }
  }

  /** Calls `readRecord` after each name; it reads the rest of the record and returns whether that can be used. */
  readAll(readRecord: (name: string, index: number) => boolean): void {
    const { count, offset, end } = this.#header.tables[this.#table]
    const { report } = this.#context
    if (count * minSize[this.#table] > end - offset) {
      const message = `${count} records take ${count * minSize[this.#table]} bytes at least, the table has ${end - offset}`
      report.report(codes.count, { offset, path: this.#table, message })
      this.refused = count
      return
    }
    const cursor = this.#cursor
    const names = new Names()
    for (this.#index = 0; this.#index < count; this.#index++) {
      const at = cursor.offset
      if (cursor.extents) cursor.enter(this.#table, this.#index)
      const name = this.#name()
      if (name !== undefined && names.isRepeated(name)) {
        const message = `${JSON.stringify(name)} was there before`
        report.report(duplicates[this.#table], { offset: at, path: this.#pathOf(), message })
      }
      if (name === undefined || !readRecord(name, this.#index)) this.refused++
      if (cursor.extents) cursor.leave(2)
      if (this.#isLost) {
        this.refused += count - this.#index - 1
        return
      }
    }
    this.end = cursor.offset
  }

  /** Whether the record has that many bytes left in its table; if not, the table ends here. */
  #has(length: number, field = ''): boolean {
    const { offset, remaining } = this.#cursor
    if (length <= remaining) return true
    const message = `${length} bytes are needed, the table ends ${remaining} bytes further on`
    this.#isLost = true
    return this.#complain('table-overrun', offset, field, message)
  }

  #complain(code: OinfCode, offset: number, field: string, message: string): false {
    this.#context.report.report(codes[code], { offset, path: this.#pathOf(field), message })
    return false
  }

  readonly #pathOfName = (): string => this.#pathOf(this.#nameField)

  /** Of the record, or of a field in it. */
  #pathOf(field = ''): string {
    return `${this.#table}[${this.#index}]${field && `.${field}`}`
  }

  #name(): string | undefined {
    const cursor = this.#cursor
    const { report, extents } = this.#context
    const field = this.#nameField
    if (!this.#has(4, field)) return undefined
    const length = cursor.u32(this.#lengthField)
    const { offset, position } = cursor
    const rest = this.#header.end - offset
    if (length > rest) {
      const message = `${length} bytes of text, but the file ends ${rest} bytes further on`
      this.#isLost = true
      return void this.#complain('string-length', offset - 4, field, message)
    }
    const size = stringSize(length) - 4
    if (!this.#has(size, field)) return undefined
    const text = readText(cursor.bytes.subarray(position, position + length), offset, this.#pathOfName, report)
    if (!areZero(cursor.bytes, position + length, position + size))
      this.#complain('padding', offset + length, field, 'the padding after the text is not 0')
    cursor.seek(offset + size)
    if (extents) {
      const place = { file: report.file, path: this.#pathOfName() }
      extents.add({ ...place, offset, length, kind: 'field', value: text })
      if (size > length) extents.add({ ...place, offset: offset + length, length: size - length, kind: 'padding' })
    }
    return text
  }

  sizevar(): bigint | undefined {
    return this.#has(sizevarFields.size) ? sizevarFields.read(this.#cursor).value : undefined
  }

  metadata(key: string, index: number): MetadataRecord | undefined {
    if (!this.#has(metadataFields.size)) return undefined
    const at = this.#cursor.offset
    const { valueType: type, valueFlags, valueNbytes: length, valueOffset: offset } = metadataFields.read(this.#cursor)
    const placeOf = (field: 'valueType' | 'valueFlags' | 'valueNbytes'): number => at + metadataFields.offsetOf(field)
    const isKnown = dtypeByTag.has(type) || type === stringTag || type === ndarrayTag
    if (!isKnown) this.#complain('metadata-type', placeOf('valueType'), 'value_type', `there is no type ${type}`)
    if (valueFlags !== 0)
      this.#complain('metadata-flags', placeOf('valueFlags'), 'value_flags', `0 was expected, ${valueFlags} found`)
    const stated = { length, offset, at: placeOf('valueNbytes') }
    const isInside = checkRange('metadata', stated, this.#bounds)
    if (!isInside) this.#leaveOut('metadata', unescapeKey(key), length)
    return isKnown && isInside ? { index, key, type, value: toRange('metadata', index, stated) } : undefined
  }

  /** The tensor as its record says; its quantization is put into `quants`. */
  tensor(name: string, index: number): StoredTensor | undefined {
    if (!this.#has(tensorFields.size)) return undefined
    const { view, position, offset: at, remaining } = this.#cursor
    const tag = tensorFields.get.dtype(view, position)
    const ndim = tensorFields.get.ndim(view, position)
    const flags = tensorFields.get.flags(view, position)
    const isV2 = this.#header.version === 2
    const dataAt = tensorFields.size + 8 * ndim
    const quantAt = dataAt + dataFields.size
    const end = quantAt + (isV2 ? quantFields.size : 0)
    if (this.#context.extents) tensorFields.read(this.#cursor)
    if (end > remaining) {
      const rest = remaining - tensorFields.size
      const message = `${ndim} dimensions do not fit, the table ends ${rest} bytes further on`
      this.#isLost = true
      return void this.#complain(8 * ndim > rest ? 'tensor-dims' : 'table-overrun', at + 4, 'ndim', message)
    }
    const dims = this.#dims(position + tensorFields.size, ndim)
    const length = dataFields.get.dataNbytes(view, position + dataAt)
    const offset = dataFields.get.dataOffset(view, position + dataAt)
    const quantLength = isV2 ? quantFields.get.quantNbytes(view, position + quantAt) : 0
    const quantOffset = isV2 ? quantFields.get.quantOffset(view, position + quantAt) : 0
    if (this.#context.extents) this.#noteRest(ndim)
    this.#cursor.seek(at + end)
    const dtype = this.#type(tag, at)
    if (!this.#flags(flags, at) || !dtype) return undefined

    const isPresent = (flags & hasData) !== 0
    if (!checkData(dtype, dims, isPresent, { length, offset, at: at + dataAt }, this.#bounds))
      return this.#leaveOut('tensor', unescapeName(name).text, length)
    let quant: ValueRange | undefined
    if (isV2 && (flags & hasQuant) !== 0) {
      const stated = { length: quantLength, offset: quantOffset, at: at + quantAt }
      if (!checkRange('quant', stated, this.#bounds)) return this.#leaveOut('tensor', unescapeName(name).text, length)
      quant = toRange('quant', index, stated)
    } else if (quantLength !== 0 || quantOffset !== 0) {
      const message = `${quantLength} bytes at ${quantOffset}, but the tensor is not marked as quantized`
      return void this.#complain('quant-no-flag', at + quantAt, 'quant_nbytes', message)
    }
    const data = isPresent ? new TensorData(this.#source, Number(offset), Number(length), index) : null
    const { shape, exactShape } = dims
    const plain: StoredTensor = { name, dtype, shape, order: 'row', role: 'weight', data }
    const tensor = exactShape ? { ...plain, exactShape } : plain
    if (quant) this.quants.set(tensor, quant)
    return tensor
  }

  /** Neighbours are often alike, and then share their shape. */
  #dims(at: number, ndim: number): Shape {
    const { view } = this.#cursor
    const { shape } = this.#lastDims
    let same = 0
    if (shape.length === ndim) while (same < ndim && wideAt(view, at + 8 * same) === shape[same]) same++
    if (shape.length === ndim && same === ndim) return this.#lastDims
    // Numbers up to 2^53-1; a tensor without data, or without elements, may have others.
    const dims = Array.from({ length: ndim }, (_, i) => wideAt(view, at + 8 * i))
    this.#lastDims = areNumbers(dims) ? { shape: dims } : shapeOfDims(dims)
    return this.#lastDims
  }

  /** Puts what follows the fixed fields into the byte map. */
  #noteRest(ndim: number): void {
    const cursor = this.#cursor
    for (let i = 0; i < ndim; i++) cursor.u64(`dims[${i}]`)
    dataFields.read(cursor)
    if (this.#header.version === 2) quantFields.read(cursor)
  }

  #leaveOut(subject: Lost['subject'], name: string, length: number | bigint): undefined {
    const reason = `its bytes are not between ${this.#bounds.offsetData} and ${this.#bounds.end}, where the data are`
    this.#context.onLost?.({ subject, name, length: typeof length === 'number' ? length : undefined, reason })
  }

  #type(tag: number, at: number): DType | undefined {
    const dtype = dtypeByTag.get(tag)
    if (!dtype) this.#complain('tensor-type', at, 'dtype', `a tensor cannot have type ${tag}`)
    if (tag === bitsetTag) {
      const message = 'the reference tools refuse tensors of bitsets; one byte per element'
      this.#complain('tensor-bitset', at, 'dtype', message)
    }
    return dtype
  }

  #flags(flags: number, at: number): boolean {
    const isV2 = this.#header.version === 2
    const unknown = flags - (flags & (isV2 ? hasData + hasQuant : hasData))
    if (unknown === 0) return true
    const message = `flags 0x${flags.toString(16)} have bits that version ${this.#header.version} does not know`
    const place = at + tensorFields.offsetOf('flags')
    return this.#complain(isV2 ? 'tensor-flags' : 'tensor-flags-unknown', place, 'flags', message) || !isV2
  }
}

function areZero(bytes: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] !== 0) return false
  return true
}

const areNumbers = (dims: readonly (number | bigint)[]): dims is readonly number[] =>
  dims.every((dim) => typeof dim === 'number')

/** Finds repeated names. Writers sort their tables, and as long as names ascend a comparison with the last one is enough. */
class Names {
  readonly #ascending: string[] = []
  #last = ''
  #all: Set<string> | undefined

  isRepeated(name: string): boolean {
    if (!this.#all && this.#last < name) {
      this.#ascending.push(name)
      this.#last = name
      return false
    }
    this.#all ??= new Set(this.#ascending)
    const isRepeated = this.#all.has(name)
    this.#all.add(name)
    return isRepeated
  }
}
