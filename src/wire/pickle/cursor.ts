// Reads the arguments of opcodes. Every length is compared with what is left before anything is taken.
import { Cursor, decodeUtf8, toSafe } from '../../bytes/index.js'
import type { Code, Report } from '../../errors/index.js'
import { pickleCodes as codes } from './codes.js'

/** Python itself refuses decimal integers with more digits. */
const maxDigits = 4300
/** No honest binary integer is longer. */
const maxIntegerBytes = 1 << 16

export interface PickleOptions {
  /** Offset of the first byte in the file. */
  readonly base?: number
  /** The bytes were inflated, so places inside them are no places of the file: everything is at `base`. */
  readonly isInflated?: boolean
  readonly path: string
}

export class PickleCursor {
  readonly report: Report
  readonly path: string
  readonly #cursor: Cursor
  readonly #isInflated: boolean
  /** Where the opcode that is being read stands. */
  #opcodeAt = 0

  constructor(bytes: Uint8Array, report: Report, { base = 0, isInflated = false, path }: PickleOptions) {
    this.report = report
    this.path = path
    this.#isInflated = isInflated
    this.#cursor = new Cursor(bytes, report, { base })
  }

  get offset(): number {
    return this.#isInflated ? this.#cursor.offset - this.#cursor.position : this.#cursor.offset
  }

  get position(): number {
    return this.#cursor.position
  }

  get opcodeOffset(): number {
    return this.#opcodeAt
  }

  opcode(): number {
    this.#opcodeAt = this.offset
    if (this.#cursor.remaining === 0) this.#truncated()
    return this.#cursor.u8('')
  }

  fail(code: Code, message: string): never {
    return this.report.fail(code, { offset: this.#opcodeAt, path: this.path, message })
  }

  u8(): number {
    return this.#need(1).u8('')
  }

  u16(): number {
    return this.#need(2).u16('')
  }

  u32(): number {
    return this.#need(4).u32('')
  }

  i32(): number {
    return this.#need(4).i32('')
  }

  /** Floats are big-endian, unlike everything else. */
  f64(): number {
    const { view, position } = this.#need(8)
    this.#cursor.take(8, '')
    return view.getFloat64(position, false)
  }

  /** A 64-bit length; it must fit what is left. */
  length64(): number {
    const value = this.#need(8).u64('')
    const length = toSafe(value)
    if (length === undefined || length > this.#cursor.remaining)
      return this.fail(codes.length, `${value} bytes are announced, ${this.#cursor.remaining} are left`)
    return length
  }

  take(length: number): Uint8Array {
    if (length > this.#cursor.remaining)
      this.fail(codes.length, `${length} bytes are announced, ${this.#cursor.remaining} are left`)
    return this.#cursor.take(length, '')
  }

  /** Up to the next line feed, which is taken as well. */
  line(): Uint8Array {
    const { bytes, position } = this.#cursor
    const end = bytes.indexOf(0x0a, position)
    if (end < 0) this.#truncated()
    const line = this.#cursor.take(end - position, '')
    this.#cursor.take(1, '')
    return line
  }

  /** UTF-8, where Python also lets through halves of surrogate pairs. */
  utf8(length: number): string {
    const bytes = this.take(length)
    return decodeUtf8(bytes) ?? decodeSurrogates(bytes) ?? this.fail(codes.text, 'the text is not UTF-8')
  }

  /** What Python 2 wrote as a string: bytes that are nearly always text. */
  oldString(bytes: Uint8Array): string {
    return decodeUtf8(bytes) ?? latin1(bytes)
  }

  integer(length: number): bigint {
    if (length > maxIntegerBytes) this.fail(codes.length, `an integer of ${length} bytes`)
    const bytes = this.take(length)
    let hex = ''
    for (let i = length - 1; i >= 0; i--) hex += bytes[i]!.toString(16).padStart(2, '0')
    return length === 0 ? 0n : BigInt.asIntN(length * 8, BigInt(`0x${hex}`))
  }

  decimal(text: string): bigint {
    const trimmed = text.trim()
    if (trimmed.length > maxDigits) this.fail(codes.length, `an integer of ${trimmed.length} digits`)
    if (!/^[+-]?[0-9]+$/.test(trimmed)) this.fail(codes.text, `${JSON.stringify(trimmed.slice(0, 40))} is no integer`)
    return BigInt(trimmed.replace(/^\+/, ''))
  }

  #need(length: number): Cursor {
    if (this.#cursor.remaining < length) this.#truncated()
    return this.#cursor
  }

  #truncated(): never {
    const message = 'the pickle ends without STOP'
    return this.report.fail(codes.truncated, { offset: this.offset, path: this.path, message })
  }
}

export function latin1(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.byteLength; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096))
  return text
}

/** Text in which each half of a surrogate pair may stand alone, as three bytes. Undefined when it is not that either. */
function decodeSurrogates(bytes: Uint8Array): string | undefined {
  let text = ''
  let from = 0
  for (let at = 0; at + 2 < bytes.byteLength; at++) {
    if (bytes[at] !== 0xed || bytes[at + 1]! < 0xa0 || bytes[at + 2]! < 0x80) continue
    const before = decodeUtf8(bytes.subarray(from, at))
    if (before === undefined) return undefined
    text += before + String.fromCharCode(0xd000 + (bytes[at + 1]! % 64) * 64 + (bytes[at + 2]! % 64))
    at += 2
    from = at + 1
  }
  const rest = decodeUtf8(bytes.subarray(from))
  return rest === undefined ? undefined : text + rest
}
