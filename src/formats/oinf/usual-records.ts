// Tensor records as writers make them, taken straight from the bytes: a table can have a million. Whatever has something unusual about it
// is left to the reader that can say what is wrong.
import { textOfUnits } from '../../bytes/unit-text.js'
import type { DType } from '../../dtypes/index.js'
import type { Header } from './header.js'
import type { Range, TensorRecord } from './records.js'
import { isLegalByte } from './strings.js'
import { alignment, dataFields, hasData, hasQuant, quantFields, stringSize, tensorFields } from './structs.js'
import { bitsetTag, dataSize, dtypeByTag } from './types.js'

const longestName = 256
const maxDims = 8
/** What is above 2^53 has more in its upper half. */
const upperLimit = 2 ** 21

export class UsualRecords {
  /** Behind the last record that was taken. */
  position = 0
  readonly #header: Header
  readonly #rest: number
  /** Neighbours are often alike, and then share their shape. */
  #last: { dtype: DType; shape: readonly number[]; length: number } | undefined

  constructor(header: Header) {
    this.#header = header
    this.#rest = dataFields.size + (header.version === 2 ? quantFields.size : 0)
  }

  /** The record at `position`; undefined when it is unusual, or does not end within the bytes. */
  take(view: DataView, position: number, index: number): TensorRecord | undefined {
    const end = view.byteLength
    if (position + 4 > end) return undefined
    const nameLength = view.getUint32(position, true)
    const fieldsAt = position + stringSize(nameLength)
    const dimsAt = fieldsAt + tensorFields.size
    if (nameLength === 0 || nameLength > longestName || dimsAt > end) return undefined
    const tag = view.getUint32(fieldsAt, true)
    const ndim = view.getUint32(fieldsAt + 4, true)
    const dtype = tag === bitsetTag ? undefined : dtypeByTag.get(tag)
    const rangesAt = dimsAt + 8 * ndim
    if (!dtype || ndim > maxDims || rangesAt + this.#rest > end) return undefined
    const flags = view.getUint32(fieldsAt + 8, true)
    const isQuantized = flags === hasData + hasQuant && this.#header.version === 2
    if (flags !== hasData && !isQuantized) return undefined
    const shape = this.#shape(view, dimsAt, ndim)
    const data = this.#range(view, rangesAt)
    if (!shape || !data || data.length !== this.#lengthOf(dtype, shape)) return undefined
    const quantAt = rangesAt + dataFields.size
    const quant = isQuantized ? this.#range(view, quantAt) : undefined
    if (isQuantized && !quant) return undefined
    if (!isQuantized && !areZero(view, quantAt, rangesAt + this.#rest)) return undefined
    const name = this.#name(view, position + 4, nameLength, fieldsAt)
    if (name === undefined) return undefined
    this.position = rangesAt + this.#rest
    return { index, name, dtype, shape, data, quant }
  }

  /** Undefined unless it is one that the file may have. */
  #range(view: DataView, at: number): Range | undefined {
    const length = numberAt(view, at)
    const offset = numberAt(view, at + 8)
    const { offsetData, end } = this.#header
    if (length < 0 || offset < offsetData || offset % alignment !== 0 || offset + length > end) return undefined
    return { offset, length }
  }

  #shape(view: DataView, at: number, ndim: number): readonly number[] | undefined {
    const known = this.#last?.shape
    let isSame = known?.length === ndim
    for (let i = 0; i < ndim && isSame; i++) isSame = numberAt(view, at + 8 * i) === known![i]
    if (isSame) return known
    const shape = Array.from({ length: ndim }, (_, i) => numberAt(view, at + 8 * i))
    return shape.every((dim) => dim >= 0) ? shape : undefined
  }

  #lengthOf(dtype: DType, shape: readonly number[]): number | undefined {
    if (this.#last?.shape === shape && this.#last.dtype === dtype) return this.#last.length
    const length = dataSize(dtype, shape)
    if (length !== undefined) this.#last = { dtype, shape, length }
    return length
  }

  /** The text up to its padding, which ends where the fields begin. */
  #name(view: DataView, at: number, length: number, fieldsAt: number): string | undefined {
    for (let i = at; i < at + length; i++) if (!isLegalByte(view.getUint8(i))) return undefined
    for (let i = at + length; i < fieldsAt; i++) if (view.getUint8(i) !== 0) return undefined
    return textOfUnits(new Uint8Array(view.buffer, view.byteOffset + at, length), 0, length)
  }
}

/** Both ends are multiples of 4 away from each other. */
function areZero(view: DataView, start: number, end: number): boolean {
  for (let at = start; at < end; at += 4) if (view.getUint32(at, true) !== 0) return false
  return true
}

/** A u64; negative when it is beyond 2^53-1. */
function numberAt(view: DataView, at: number): number {
  const upper = view.getUint32(at + 4, true)
  return upper < upperLimit ? upper * 2 ** 32 + view.getUint32(at, true) : -1
}
