// The tensors of one file. An entry gives name, dimensions (innermost first: the reverse of a row-major shape), type and an offset that
// counts from the start of the data. The data starts at the first multiple of the alignment after the index, and each tensor is filled up to
// the alignment.
import { alignUp, Cursor, countElements, decodeUtf8, toSafe } from '../../bytes/index.js'
import { type GgmlType, ggmlTypeByNumber, removedGgmlTypes } from '../../dtypes/ggml/index.js'
import { type ReadContext, rangePayload, type Tensor, type TensorList } from '../../model/index.js'
import { codes } from './codes.js'
import type { IndexBytes } from './index-bytes.js'
import type { Encoding, Skimmed } from './skim.js'
import { mostDims } from './structs.js'
import { isOrderAgreed, toLittleEndian } from './swap.js'

/** A tensor with its place in the data. */
interface Placed {
  readonly tensor: Tensor
  readonly entry: number
  /** Where its entry begins in the file. */
  readonly at: number
  readonly offset: number
  readonly size: number
}

export interface TensorSection {
  readonly tensors: TensorList
  /** Bytes that should be zero. */
  readonly padding: readonly { readonly offset: number; readonly length: number }[]
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
  readonly #placed: Placed[] = []
  readonly #padding: { offset: number; length: number }[] = []
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
    const seen = new Map<string, number>()
    for (let i = 0; i < count; i++) {
      cursor.enter('tensors', i)
      this.#take(this.#readInfo(cursor), i, seen)
      cursor.leave(2)
    }
    if (count > 0) this.#checkPlaces()
    else this.#checkRest()
    return { tensors: this.#placed.map((placed) => placed.tensor), padding: this.#padding }
  }

  #readInfo(cursor: Cursor): Info {
    const at = cursor.offset
    const isWide = this.#encoding.lengthSize === 8
    const length = isWide ? cursor.size('name_length') : cursor.u32('name_length')
    const name = cursor.raw(length, 'name', (bytes) => decodeUtf8(bytes))
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

  #take(info: Info, i: number, seen: Map<string, number>): void {
    const before = this.#refused
    const name = this.#checkName(info, i, seen)
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
    const tensor: Tensor = { name, dtype: type.dtype, shape, order: 'row', role: 'weight', data }
    this.#placed.push({ tensor, entry: i, at: info.at, offset, size })
  }

  #checkName(info: Info, i: number, seen: Map<string, number>): string | undefined {
    const name = decodeUtf8(info.name)
    if (name === undefined) {
      this.#refuse(codes['name-utf8'], i, 'name', info.at, 'the name is not UTF-8')
      return undefined
    }
    const first = seen.get(name)
    if (first !== undefined) {
      this.#refuse(
        codes['duplicate-name'],
        i,
        'name',
        info.at,
        `tensors[${first}] is called ${JSON.stringify(name)} too`,
      )
    } else seen.set(name, i)
    if (name === '') this.#say(codes['name-empty'], i, 'name', info.at, 'the name is empty')
    if (info.name.byteLength >= 64) {
      this.#say(codes['name-length'], i, 'name', info.at, `the name has ${info.name.byteLength} bytes`)
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
    if (info.dims.length > mostDims) {
      this.#refuse(
        codes['dims-count'],
        i,
        'n_dimensions',
        info.at,
        `${info.dims.length} dimensions, ${mostDims} are the most`,
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
    let inOrder = this.#placed
    if (inOrder.some((placed, i) => i > 0 && placed.offset < inOrder[i - 1]!.offset)) {
      const late = inOrder.find((placed, i) => i > 0 && placed.offset < inOrder[i - 1]!.offset)!
      const message = `the data of ${JSON.stringify(late.tensor.name)} lies before that of the tensor listed before it`
      this.#say(codes.order, late.entry, 'offset', late.at, message)
      inOrder = inOrder.toSorted((a, b) => a.offset - b.offset || a.size - b.size)
    }
    let reached = 0
    let previous: Placed | undefined
    for (const placed of inOrder) {
      if (placed.size === 0) continue
      const next = alignUp(reached, this.#alignment)
      if (placed.offset < reached) {
        const message = `${JSON.stringify(placed.tensor.name)} and ${JSON.stringify(previous!.tensor.name)} share bytes`
        this.#say(codes.overlap, placed.entry, 'offset', this.#dataStart + placed.offset, message)
      } else {
        this.#notePadding(this.#dataStart + reached, this.#dataStart + next, 'padding')
        if (placed.offset > next && this.#refused === 0) {
          const message = `${placed.offset - next} bytes before ${JSON.stringify(placed.tensor.name)} belong to nobody`
          this.#say(codes.gap, placed.entry, 'offset', this.#dataStart + next, message)
        }
      }
      this.#noteData(placed)
      if (placed.offset + placed.size > reached) {
        reached = placed.offset + placed.size
        previous = placed
      }
    }
    if (this.#refused === 0) this.#checkTail(reached)
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
    if (length > 0) this.#padding.push({ offset: this.#end, length })
  }

  #sayTrailing(end: number): void {
    const { size } = this.#index.source
    if (size <= end) return
    const message = `${size - end} bytes after the last tensor belong to nobody`
    this.#context.report.report(codes['trailing-bytes'], { offset: end, length: size - end, path: 'data', message })
  }

  #noteData({ tensor, offset, size }: Placed): void {
    this.#context.extents?.add({
      file: this.#index.source.name,
      offset: this.#dataStart + offset,
      length: size,
      path: `data[${JSON.stringify(tensor.name)}]`,
      kind: 'data',
    })
  }

  #notePadding(start: number, end: number, path: string): void {
    if (end <= start || end > this.#index.source.size) return
    this.#padding.push({ offset: start, length: end - start })
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
