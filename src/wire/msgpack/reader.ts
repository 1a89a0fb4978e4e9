// MessagePack, one token at a time. Every value begins with a type byte that also tells how its length or number is stored; `next`
// reads that much and leaves the content (of a string, say) to the caller, who may take it or step over it.
//
// The bytes may be a window of something longer. Then `end` says where that really ends: a value that claims more than is left is an
// error at once, one that merely runs out of the window throws a `Shortage`, and the caller tries again with a larger window.
import { decodeUtf8, Shortage, shortAscii } from '../../bytes/index.js'
import { neededSize, type Report } from '../../errors/index.js'
import { msgpackCodes } from './codes.js'

export type MsgpackKind = 'nil' | 'bool' | 'int' | 'float' | 'str' | 'bin' | 'array' | 'map' | 'ext'

export interface MsgpackReaderOptions {
  /** Offset of the first byte in the file. */
  readonly base?: number
  /** Offset where the data ends, when the bytes are only a window of it. */
  readonly end?: number
  /** The path of what is being read, asked for when something is wrong. */
  readonly where?: () => string
}

export class MsgpackReader {
  readonly report: Report
  where: () => string
  /** The type byte of the last token. */
  form = 0xc0
  /** Bytes of a str, bin or ext; items of an array; pairs of a map. */
  length = 0
  /** The number of an int or float. Integers beyond 2^53-1 are bigints. */
  value: number | bigint = 0
  /** The type number of an ext. */
  extType = 0
  position = 0
  #bytes: Uint8Array
  #view: DataView
  #base: number
  #end: number
  /** The data are a file that is read through windows, so that offsets are offsets in the file. */
  readonly #isWindow: boolean

  constructor(bytes: Uint8Array, report: Report, options: MsgpackReaderOptions = {}) {
    this.report = report
    this.where = options.where ?? (() => '')
    this.#bytes = bytes
    this.#view = viewOf(bytes)
    this.#base = options.base ?? 0
    this.#isWindow = options.end !== undefined
    this.#end = options.end ?? this.#base + bytes.byteLength
  }

  /** Goes on in another window of the same data, from its first byte. */
  moveTo(bytes: Uint8Array, base: number): void {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
    this.#base = base
    this.position = 0
  }

  /** Absolute offset of the next byte. */
  get offset(): number {
    return this.#base + this.position
  }

  /** Bytes left in the data, inside and behind the window. */
  get remaining(): number {
    return this.#end - this.#base - this.position
  }

  /** The next type byte, without going on. */
  peek(): number {
    this.#need(1)
    return this.#bytes[this.position]!
  }

  /** Reads a type byte and what belongs to it, and says what it is. */
  next(): MsgpackKind {
    const form = this.#bytes[this.position] ?? this.peek()
    this.form = form
    if (form < 0x80) return this.#fixed('int', form)
    if (form < 0x90) return this.#counted('map', 0, form - 0x80)
    if (form < 0xa0) return this.#counted('array', 0, form - 0x90)
    if (form < 0xc0) return this.#counted('str', 0, form - 0xa0)
    if (form >= 0xe0) return this.#fixed('int', form - 0x100)
    switch (form) {
      case 0xc0:
        return this.#fixed('nil', 0)
      case 0xc2:
        return this.#fixed('bool', 0)
      case 0xc3:
        return this.#fixed('bool', 1)
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return this.#counted('bin', widths[form - 0xc4]!)
      case 0xc7:
      case 0xc8:
      case 0xc9:
        return this.#ext(widths[form - 0xc7]!)
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return this.#ext(0, 2 ** (form - 0xd4))
      case 0xd9:
      case 0xda:
      case 0xdb:
        return this.#counted('str', widths[form - 0xd9]!)
      case 0xdc:
      case 0xdd:
        return this.#counted('array', widths[form - 0xdc + 1]!)
      case 0xde:
      case 0xdf:
        return this.#counted('map', widths[form - 0xde + 1]!)
      case 0xc1: {
        const place = { offset: this.offset, length: 1, path: this.where() }
        return this.report.fail(msgpackCodes.reserved, { ...place, message: '0xc1 begins no value' })
      }
      default:
        return this.#number(form)
    }
  }

  /** The next `length` bytes, as a view. */
  take(length: number): Uint8Array {
    this.#need(length)
    const start = this.position
    this.position = start + length
    return this.#bytes.subarray(start, start + length)
  }

  /**
   * The next `length` bytes as text; undefined when they are not UTF-8, and then nothing is taken. Where they are ASCII and equal the
   * `guess`, that very string is returned: names repeat, and comparing them costs less than decoding.
   */
  takeText(length: number, guess = ''): string | undefined {
    this.#need(length)
    const text = this.#isNext(guess, length)
      ? guess
      : (shortAscii(this.#bytes, this.position, length) ??
        decodeUtf8(this.#bytes.subarray(this.position, this.position + length)))
    if (text !== undefined) this.position += length
    return text
  }

  #isNext(text: string, length: number): boolean {
    if (text.length !== length) return false
    for (let i = 0; i < length; i++) {
      const byte = this.#bytes[this.position + i]!
      if (byte > 0x7f || byte !== text.charCodeAt(i)) return false
    }
    return true
  }

  /** A big-endian u32 behind a type byte that the caller has looked at. */
  takeU32(): number {
    this.#need(5)
    const value = this.#view.getUint32(this.position + 1)
    this.position += 5
    return value
  }

  #fixed(kind: MsgpackKind, value: number): MsgpackKind {
    this.value = value
    this.position++
    return kind
  }

  #number(form: number): MsgpackKind {
    const at = this.position + 1
    const view = this.#view
    const size = 2 ** ((form - (form < 0xcc ? 0xc8 : 0xcc)) % 4)
    this.#need(1 + size)
    if (form === 0xca) this.value = view.getFloat32(at)
    else if (form === 0xcb) this.value = view.getFloat64(at)
    else if (form === 0xcc) this.value = view.getUint8(at)
    else if (form === 0xcd) this.value = view.getUint16(at)
    else if (form === 0xce) this.value = view.getUint32(at)
    else if (form === 0xcf) this.value = narrow(view.getBigUint64(at))
    else if (form === 0xd0) this.value = view.getInt8(at)
    else if (form === 0xd1) this.value = view.getInt16(at)
    else if (form === 0xd2) this.value = view.getInt32(at)
    else this.value = narrow(view.getBigInt64(at))
    this.position += 1 + size
    return form < 0xcc ? 'float' : 'int'
  }

  #counted(kind: 'str' | 'bin' | 'array' | 'map', width: number, fixed = 0): MsgpackKind {
    if (width > 0) this.#need(1 + width)
    this.length = width === 0 ? fixed : this.#unsigned(this.position + 1, width)
    this.#checkLength(1 + width, kind === 'map' ? 2 * this.length : this.length, kind)
    this.position += 1 + width
    return kind
  }

  #ext(width: number, fixed = 0): MsgpackKind {
    this.#need(2 + width)
    const at = this.position + 1
    this.length = width === 0 ? fixed : this.#unsigned(at, width)
    this.extType = this.#view.getInt8(at + width)
    this.#checkLength(2 + width, this.length, 'ext')
    this.position += 2 + width
    return 'ext'
  }

  #unsigned(at: number, width: number): number {
    if (width === 1) return this.#view.getUint8(at)
    return width === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at)
  }

  /** Every item takes at least one byte, so a count can be refused before anything is read or kept. */
  #checkLength(header: number, minBytes: number, kind: MsgpackKind): void {
    const left = this.remaining - header
    if (minBytes <= left) return
    const what = kind === 'array' ? 'items' : kind === 'map' ? 'pairs' : 'bytes'
    this.report.fail(msgpackCodes.length, {
      offset: this.offset,
      length: header,
      path: this.where(),
      message: `${nameOf(kind)} of ${this.length} ${what} begins here, but only ${left} bytes are left`,
      ...(this.#isWindow && neededSize(this.offset + header + minBytes)),
    })
  }

  #need(length: number): void {
    if (length <= this.#bytes.byteLength - this.position) return
    if (length <= this.remaining) throw new Shortage(this.offset, length)
    this.report.fail(msgpackCodes.truncated, {
      offset: this.offset,
      length: Math.max(0, this.remaining),
      path: this.where(),
      message: `${length} bytes are needed here, but only ${Math.max(0, this.remaining)} are left`,
      ...(this.#isWindow && neededSize(this.offset + length)),
    })
  }
}

const widths = [1, 2, 4] as const

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const narrow = (value: bigint): number | bigint =>
  value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value

const names: Readonly<Record<MsgpackKind, string>> = {
  nil: 'nil',
  bool: 'a boolean',
  int: 'an integer',
  float: 'a float',
  str: 'a string',
  bin: 'a byte string',
  array: 'a list',
  map: 'a map',
  ext: 'an extension value',
}

/** How messages call a kind of value. */
export const nameOf = (kind: MsgpackKind): string => names[kind]
