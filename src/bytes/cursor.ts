// Reads fields one after another from bytes that were fetched before. It never reads past its end: a short buffer is a finding
// with the absolute offset and the path of the field. The path is kept as a list and only joined when somebody needs the text.
import { numberCodes, type Report } from '../errors/index.js'
import { toSafe, wideAt } from './checked.js'
import type { ExtentRecorder } from './extents.js'

export interface CursorOptions {
  /** Offset of the first byte in the file. */
  readonly base?: number
  readonly littleEndian?: boolean
  readonly extents?: ExtentRecorder | undefined
  readonly path?: readonly (string | number)[]
}

type FieldValue = string | number | bigint | boolean | undefined

export class Cursor {
  readonly bytes: Uint8Array
  readonly view: DataView
  readonly report: Report
  readonly littleEndian: boolean
  readonly extents: ExtentRecorder | undefined
  readonly #base: number
  readonly #path: (string | number)[]
  #position = 0

  constructor(bytes: Uint8Array, report: Report, options: CursorOptions = {}) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.report = report
    this.littleEndian = options.littleEndian ?? true
    this.extents = options.extents
    this.#base = options.base ?? 0
    this.#path = [...(options.path ?? [])]
  }

  /** Absolute offset of the next byte. */
  get offset(): number {
    return this.#base + this.#position
  }

  /** Index of the next byte in `bytes`. */
  get position(): number {
    return this.#position
  }

  get remaining(): number {
    return this.bytes.byteLength - this.#position
  }

  /** Goes to an absolute offset inside the bytes. */
  seek(offset: number): void {
    const position = offset - this.#base
    if (position < 0 || position > this.bytes.byteLength) this.#tooShort('', position - this.#position)
    this.#position = position
  }

  enter(...segments: (string | number)[]): void {
    this.#path.push(...segments)
  }

  leave(count = 1): void {
    for (let i = 0; i < count; i++) this.#path.pop()
  }

  /** `tensors[3].dims` from the segments and the field's own name. */
  pathOf(field = ''): string {
    let text = ''
    for (const segment of field === '' ? this.#path : [...this.#path, field]) {
      text += typeof segment === 'number' ? `[${segment}]` : text === '' ? segment : `.${segment}`
    }
    return text
  }

  /** Takes `length` bytes as a view, without a note in the byte map. */
  take(length: number, field: string): Uint8Array {
    const start = this.#advance(length, field)
    return this.bytes.subarray(start, start + length)
  }

  u8(field: string): number {
    const at = this.#advance(1, field)
    return this.#note(at, 1, field, this.view.getUint8(at))
  }

  u16(field: string): number {
    const at = this.#advance(2, field)
    return this.#note(at, 2, field, this.view.getUint16(at, this.littleEndian))
  }

  u32(field: string): number {
    const at = this.#advance(4, field)
    return this.#note(at, 4, field, this.view.getUint32(at, this.littleEndian))
  }

  i32(field: string): number {
    const at = this.#advance(4, field)
    return this.#note(at, 4, field, this.view.getInt32(at, this.littleEndian))
  }

  /** All 64 bits. */
  u64(field: string): bigint {
    const at = this.#advance(8, field)
    return this.#note(at, 8, field, this.view.getBigUint64(at, this.littleEndian))
  }

  /** All 64 bits: a number, or a bigint beyond 2^53-1. */
  wide(field: string): number | bigint {
    const at = this.#advance(8, field)
    const value = wideAt(this.view, at, this.littleEndian)
    if (this.extents) this.#note(at, 8, field, BigInt(value))
    return value
  }

  /** A u64 that must be usable as a size or offset: beyond 2^53-1 is an error, since no file is that large. */
  size(field: string): number {
    const at = this.#advance(8, field)
    const value = this.view.getBigUint64(at, this.littleEndian)
    this.#note(at, 8, field, value)
    return toSafe(value) ?? this.tooLarge(value, this.#base + at, field)
  }

  f32(field: string): number {
    const at = this.#advance(4, field)
    return this.#note(at, 4, field, this.view.getFloat32(at, this.littleEndian))
  }

  f64(field: string): number {
    const at = this.#advance(8, field)
    return this.#note(at, 8, field, this.view.getFloat64(at, this.littleEndian))
  }

  /** A run of bytes that is one field; `show` says how it looks in the byte map. */
  raw(length: number, field: string, show?: (bytes: Uint8Array) => FieldValue): Uint8Array {
    const at = this.#advance(length, field)
    const bytes = this.bytes.subarray(at, at + length)
    if (this.extents) this.#note(at, length, field, show?.(bytes))
    return bytes
  }

  tooLarge(value: bigint, offset: number, field: string): never {
    return this.report.fail(numberCodes['too-large'], {
      offset,
      length: 8,
      path: this.pathOf(field),
      message: `${value} is more than any file can hold`,
    })
  }

  #advance(length: number, field: string): number {
    const start = this.#position
    if (length > this.bytes.byteLength - start) this.#tooShort(field, length)
    this.#position = start + length
    return start
  }

  #tooShort(field: string, length: number): never {
    return this.report.fail(numberCodes.truncated, {
      offset: this.offset,
      length: this.remaining,
      path: this.pathOf(field),
      message: `${length} bytes are needed here, but only ${this.remaining} are left`,
    })
  }

  #note<T extends FieldValue>(at: number, length: number, field: string, value: T): T {
    this.extents?.add({
      file: this.report.file,
      offset: this.#base + at,
      length,
      path: this.pathOf(field),
      kind: 'field',
      value,
    })
    return value
  }
}
