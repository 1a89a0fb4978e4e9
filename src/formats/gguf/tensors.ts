// The tensors of one file. An entry gives name, dimensions (innermost first: the reverse of a row-major shape), type and an offset that
// counts from the start of the data. The data starts at the first multiple of the alignment after the index, and each tensor is filled up to
// the alignment.
import { alignUp, Cursor, countElements, decodeUtf8, toSafe } from '../../bytes/index.js'
import { NameSet } from '../../bytes/name-set.js'
import { NumberList } from '../../bytes/number-list.js'
import { asciiText } from '../../bytes/unit-text.js'
import { type GgmlType, ggmlTypeByNumber, removedGgmlTypes } from '../../dtypes/ggml/index.js'
import { type ReadContext, rangePayload, type Tensor } from '../../model/index.js'
import { PackedTensors } from '../../model/packed-tensors.js'
import { codes } from './codes.js'
import type { IndexBytes } from './index-bytes.js'
import type { Encoding, Skimmed } from './skim.js'
import { Stretches } from './stretches.js'
import { maxDims, maxNameBytes } from './structs.js'
import { isOrderAgreed, toLittleEndian } from './swap.js'

export interface TensorSection {
  readonly tensors: readonly Tensor[]
  /** Bytes that should be zero. */
  readonly padding: Stretches
}

/** What an entry says, before it is believed. */
interface Info {
  readonly name: Uint8Array
  readonly dims: readonly bigint[]
  readonly type: number
  readonly offset: bigint
  /** Where the fields begin in the file, for findings. */
  readonly at: number
}

export class TensorReader {
  readonly #index: IndexBytes
  readonly #encoding: Encoding
  readonly #context: ReadContext
  readonly #alignment: number
  readonly #dataStart: number
  readonly #dataSize: number
  readonly #end: number
  /** Where each entry begins in the file. */
  readonly #starts = new NumberList(Float64Array)
  readonly #tensors = new PackedTensors()
  /** Of the tensor at the same position: its entry, and its place in the data. */
  readonly #entries = new NumberList(Uint32Array)
  readonly #offsets = new NumberList(Float64Array)
  readonly #sizes = new NumberList(Float64Array)
  readonly #names = new NameSet((entry) => this.#nameOf(entry))
  readonly #padding = new Stretches()
  #refused = 0

  constructor(index: IndexBytes, encoding: Encoding, alignment: number, skimmed: Skimmed, context: ReadContext) {
    this.#index = index
    this.#encoding = encoding
    this.#context = context
    this.#alignment = alignment
    this.#end = skimmed.end
    this.#dataStart = alignUp(skimmed.end, alignment)
    this.#dataSize = Math.max(0, index.source.size - this.#dataStart)
  }

  read(start: number, count: number): TensorSection {
    const { report, extents } = this.#context
    const { littleEndian } = this.#encoding
    const bytes = this.#index.bytes.subarray(0, this.#end)
    const cursor = new Cursor(bytes, report, { littleEndian, extents })
    cursor.seek(start)
    for (let i = 0; i < count; i++) {
      this.#starts.push(cursor.offset)
      cursor.enter('tensors', i)
      this.#take(this.#readInfo(cursor), i)
      cursor.leave(2)
    }
    if (count > 0) this.#checkPlaces()
    else this.#checkRest()
    return { tensors: this.#tensors, padding: this.#padding }
  }

  /** A name that is UTF-8, read again from its entry. */
  #nameOf(entry: number): string {
    const { bytes, view } = this.#index
    const { lengthSize, littleEndian } = this.#encoding
    const at = this.#starts.at(entry)
    const length = lengthSize === 8 ? Number(view.getBigUint64(at, littleEndian)) : view.getUint32(at, littleEndian)
    return textIn(bytes.subarray(at + lengthSize, at + lengthSize + length))!
  }

  #readInfo(cursor: Cursor): Info {
    const at = cursor.offset
    const isWide = this.#encoding.lengthSize === 8
    const length = isWide ? cursor.size('name_length') : cursor.u32('name_length')
    const name = cursor.raw(length, 'name', textIn)
    const rank = cursor.u32('n_dimensions')
    const dims: bigint[] = []
    cursor.enter('dimensions')
    for (let k = 0; k < rank; k++) {
      cursor.enter(k)
      dims.push(isWide ? cursor.u64('') : BigInt(cursor.u32('')))
      cursor.leave()
    }
    cursor.leave()
    return { name, dims, type: cursor.u32('type'), offset: cursor.u64('offset'), at }
  }

  #take(info: Info, i: number): void {
    const before = this.#refused
    const name = this.#checkName(info, i)
    const type = this.#checkType(info, i)
    const shape = this.#checkShape(info, i, type)
    if (name === undefined || !type || !shape || this.#refused > before) return
    const size = type.dtype.byteLength(shape)
    if (size === undefined) {
      const message = `rows of ${shape.at(-1) ?? 1} elements are no whole number of blocks of ${type.dtype.group.elements} (${type.name})`
      this.#refuse(codes['block-rows'], i, 'dimensions', info.at, message)
      return
    }
    const offset = this.#checkOffset(info, i, size)
    if (offset === undefined) return
    const range = rangePayload(this.#index.source, Math.min(this.#dataStart + offset, this.#index.source.size), size)
    if (!this.#encoding.littleEndian && !isOrderAgreed(type)) {
      const message = `${JSON.stringify(name)} is ${type.name}, whose blocks no other program writes in this byte order`
      this.#say(codes['byte-order-type'], i, 'type', info.at, message)
    }
    const data = this.#encoding.littleEndian ? range : toLittleEndian(range, type)
    this.#tensors.push({ name, dtype: type.dtype, shape, order: 'row', role: 'weight', data })
    this.#entries.push(i)
    this.#offsets.push(offset)
    this.#sizes.push(size)
  }

  #checkName(info: Info, i: number): string | undefined {
    const name = textIn(info.name)
    if (name === undefined) {
      this.#refuse(codes['name-utf8'], i, 'name', info.at, 'the name is not UTF-8')
      return undefined
    }
    const first = this.#names.add(name, i)
    if (first !== undefined) {
      this.#refuse(
        codes['duplicate-name'],
        i,
        'name',
        info.at,
        `tensors[${first}] is called ${JSON.stringify(name)} too`,
      )
    }
    if (name === '') this.#say(codes['name-empty'], i, 'name', info.at, 'the name is empty')
    if (info.name.byteLength > maxNameBytes) {
      const code = this.#context.lenient ? codes['name-length-taken'] : codes['name-length']
      const message = `the name has ${info.name.byteLength} bytes, ${maxNameBytes} are the most`
      this.#say(code, i, 'name', info.at, message)
    }
    return name
  }

  #checkType(info: Info, i: number): GgmlType | undefined {
    const type = ggmlTypeByNumber(info.type)
    if (type) return type
    const removed = removedGgmlTypes.get(info.type)
    const message = removed
      ? `type ${info.type} was ${removed}, which ggml has removed`
      : `there is no tensor type ${info.type}`
    this.#refuse(codes['tensor-type'], i, 'type', info.at, message)
    return undefined
  }

  #checkShape(info: Info, i: number, type: GgmlType | undefined): number[] | undefined {
    if (info.dims.length > maxDims) {
      this.#refuse(
        codes['dims-count'],
        i,
        'n_dimensions',
        info.at,
        `${info.dims.length} dimensions, ${maxDims} are the most`,
      )
      return undefined
    }
    const shape = info.dims.map((dim) => toSafe(dim) ?? Number.POSITIVE_INFINITY).reverse()
    const count = shape.includes(Number.POSITIVE_INFINITY) ? undefined : countElements(shape)
    const bits = type ? (type.dtype.group.bytes * 8) / type.dtype.group.elements : 8
    if (count === undefined || (count * bits) / 8 > Number.MAX_SAFE_INTEGER) {
      const message = `[${info.dims.toReversed().join(', ')}] is more than any file can hold`
      this.#refuse(codes['dims-overflow'], i, 'dimensions', info.at, message)
      return undefined
    }
    return shape
  }

  #checkOffset(info: Info, i: number, size: number): number | undefined {
    const offset = toSafe(info.offset)
    if (offset === undefined || offset + size > this.#dataSize) {
      const message = `it takes ${size} bytes from ${info.offset} on, but the data has ${this.#dataSize}`
      this.#refuse(codes['past-end'], i, 'offset', info.at, message)
      this.#context.onLost?.({ subject: 'tensor', name: decodeUtf8(info.name), length: size, reason: message })
      return undefined
    }
    if (offset % this.#alignment === 0) return offset
    this.#refuse(codes['offset-alignment'], i, 'offset', info.at, `${offset} is no multiple of ${this.#alignment}`)
    return undefined
  }

  /** In order of offset, each tensor must begin where the one before it is filled up to the alignment. */
  #checkPlaces(): void {
    this.#notePadding(this.#end, this.#dataStart, 'header_padding')
    let reached = 0
    let previous = -1
    for (const position of this.#inOrder()) {
      const offset = this.#offsets.at(position)
      const size = this.#sizes.at(position)
      if (size === 0) continue
      const next = alignUp(reached, this.#alignment)
      if (offset < reached) {
        const message = `${this.#quoted(position)} and ${this.#quoted(previous)} share bytes`
        this.#say(codes.overlap, this.#entries.at(position), 'offset', this.#dataStart + offset, message)
      } else {
        this.#notePadding(this.#dataStart + reached, this.#dataStart + next, 'padding')
        if (offset > next && this.#refused === 0) {
          const message = `${offset - next} bytes before ${this.#quoted(position)} belong to nobody`
          this.#say(codes.gap, this.#entries.at(position), 'offset', this.#dataStart + next, message)
        }
      }
      this.#noteData(position)
      if (offset + size > reached) {
        reached = offset + size
        previous = position
      }
    }
    if (this.#refused === 0) this.#checkTail(reached)
  }

  /** The positions of the tensors by where their data lie. */
  #inOrder(): Iterable<number> {
    const [offsets, sizes] = [this.#offsets, this.#sizes]
    for (let i = 1; i < offsets.length; i++) {
      if (offsets.at(i) >= offsets.at(i - 1)) continue
      const message = `the data of ${this.#quoted(i)} lies before that of the tensor listed before it`
      const entry = this.#entries.at(i)
      this.#say(codes.order, entry, 'offset', this.#starts.at(entry), message)
      const positions = Uint32Array.from({ length: offsets.length }, (_, k) => k)
      return positions.sort((a, b) => offsets.at(a) - offsets.at(b) || sizes.at(a) - sizes.at(b) || a - b)
    }
    return this.#tensors.keys()
  }

  #quoted(position: number): string {
    return JSON.stringify(this.#tensors.nameAt(position))
  }

  #checkTail(reached: number): void {
    const { report, lenient } = this.#context
    const end = alignUp(reached, this.#alignment)
    this.#notePadding(this.#dataStart + reached, Math.min(this.#dataStart + end, this.#index.source.size), 'padding')
    if (this.#dataSize < end || this.#index.source.size < this.#dataStart) {
      const code = lenient ? codes['tail-padding-taken'] : codes['tail-padding']
      const message = `the file should go on to ${this.#dataStart + end}, it ends at ${this.#index.source.size}`
      report.report(code, { offset: this.#index.source.size, path: 'padding', message })
    } else this.#sayTrailing(this.#dataStart + end)
  }

  /** Without tensors there is nothing to align; writers fill up the index all the same, or leave it. */
  #checkRest(): void {
    this.#sayTrailing(this.#dataStart)
    const length = Math.min(this.#dataStart, this.#index.source.size) - this.#end
    if (length > 0) this.#padding.push(this.#end, length)
  }

  #sayTrailing(end: number): void {
    const { size } = this.#index.source
    if (size <= end) return
    const message = `${size - end} bytes after the last tensor belong to nobody`
    this.#context.report.report(codes['trailing-bytes'], { offset: end, length: size - end, path: 'data', message })
  }

  #noteData(position: number): void {
    this.#context.extents?.add({
      file: this.#index.source.name,
      offset: this.#dataStart + this.#offsets.at(position),
      length: this.#sizes.at(position),
      path: `data[${this.#quoted(position)}]`,
      kind: 'data',
    })
  }

  #notePadding(start: number, end: number, path: string): void {
    if (end <= start || end > this.#index.source.size) return
    this.#padding.push(start, end - start)
    const file = this.#index.source.name
    this.#context.extents?.add({ file, offset: start, length: end - start, path, kind: 'padding' })
  }

  #refuse(code: (typeof codes)[keyof typeof codes], i: number, field: string, offset: number, message: string): void {
    this.#refused++
    this.#say(code, i, field, offset, message)
  }

  #say(code: (typeof codes)[keyof typeof codes], i: number, field: string, offset: number, message: string): void {
    this.#context.report.report(code, { offset, path: `tensors[${i}].${field}`, message })
  }
}

const textIn = (bytes: Uint8Array): string | undefined => asciiText(bytes, 0, bytes.byteLength) ?? decodeUtf8(bytes)
