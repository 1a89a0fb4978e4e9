// Reads the arguments of opcodes. Every length is compared with what is left before anything is taken.
import { decodeUtf8, shortAscii, toSafe } from '../../bytes/index.js'
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
  readonly #bytes: Uint8Array
  readonly #view: DataView
  readonly #base: number
  readonly #isInflated: boolean
  #position = 0
  /** Where the opcode that is being read stands. */
  #opcodeAt = 0

  constructor(bytes: Uint8Array, report: Report, { base = 0, isInflated = false, path }: PickleOptions) {
    this.report = report
    this.path = path
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#base = base
    this.#isInflated = isInflated
  }

  get position(): number {
    return this.#position
  }

  get opcodeOffset(): number {
    return this.#offsetOf(this.#opcodeAt)
  }

  #offsetOf(position: number): number {
    return this.#isInflated ? this.#base : this.#base + position
  }

  get #remaining(): number {
    return this.#bytes.byteLength - this.#position
  }

  opcode(): number {
    this.#opcodeAt = this.#position
    return this.u8()
  }

  fail(code: Code, message: string): never {
    return this.report.fail(code, { offset: this.opcodeOffset, path: this.path, message })
  }

  u8(): number {
    return this.#view.getUint8(this.#pass(1))
  }

  u16(): number {
    return this.#view.getUint16(this.#pass(2), true)
  }

  u32(): number {
    return this.#view.getUint32(this.#pass(4), true)
  }

  i32(): number {
    return this.#view.getInt32(this.#pass(4), true)
  }

  /** Floats are big-endian, unlike everything else. */
  f64(): number {
    return this.#view.getFloat64(this.#pass(8), false)
  }

  /** A 64-bit length; it must fit what is left. */
  length64(): number {
    const value = this.#view.getBigUint64(this.#pass(8), true)
    const length = toSafe(value)
    if (length === undefined || length > this.#remaining) return this.#tooLong(value)
    return length
  }

  take(length: number): Uint8Array {
    if (length > this.#remaining) this.#tooLong(length)
    const start = this.#pass(length)
    return this.#bytes.subarray(start, start + length)
  }

  /** Up to the next line feed, which is taken as well. */
  line(): Uint8Array {
    const end = this.#bytes.indexOf(0x0a, this.#position)
    if (end < 0) this.#truncated()
    const line = this.take(end - this.#position)
    this.#pass(1)
    return line
  }

  /** UTF-8, where Python also lets through halves of surrogate pairs. */
  utf8(length: number): string {
    if (length > this.#remaining) this.#tooLong(length)
    const start = this.#pass(length)
    const ascii = shortAscii(this.#bytes, start, length)
    if (ascii !== undefined) return ascii
    const bytes = this.#bytes.subarray(start, start + length)
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
    if (!/^[+-]?[0-9]+$/.test(trimmed))
      this.fail(codes.text, `${JSON.stringify(trimmed.slice(0, 40))} is not an integer`)
    return BigInt(trimmed.replace(/^\+/, ''))
  }

  /** Goes on by this number of bytes; gives the place of the first. */
  #pass(length: number): number {
    const start = this.#position
    if (length > this.#bytes.byteLength - start) this.#truncated()
    this.#position = start + length
    return start
  }

  #tooLong(length: number | bigint): never {
    return this.fail(codes.length, `${length} bytes are announced, ${this.#remaining} are left`)
  }

  #truncated(): never {
    const message = 'the pickle ends without STOP'
    return this.report.fail(codes.truncated, { offset: this.#offsetOf(this.#position), path: this.path, message })
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
