// MessagePack output. `MsgpackWriter` writes one token at a time, with the shortest form for lengths and whatever form the caller names
// for numbers; `encodeMsgpack` writes a whole tree, always the shortest way, so that equal trees give equal bytes.
import { compareUtf8, encodeUtf8 } from '../../bytes/index.js'
import type { MsgpackExt, MsgpackFloat, MsgpackKey, MsgpackMap, MsgpackNode, MsgpackRawText } from './node.js'

export class MsgpackWriter {
  #bytes = new Uint8Array(256)
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** What was written so far, in memory of its own. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  /** The same, and starts over with nothing. */
  take(): Uint8Array {
    const bytes = this.finish()
    this.#length = 0
    return bytes
  }

  /** Bytes as they are, without a header. */
  raw(bytes: Uint8Array): void {
    const at = this.#room(bytes.byteLength)
    this.#bytes.set(bytes, at)
  }

  nil(): void {
    this.#byte(0xc0)
  }

  bool(value: boolean): void {
    this.#byte(value ? 0xc3 : 0xc2)
  }

  /** In the shortest form. */
  int(value: number | bigint): void {
    if (value >= 0) {
      if (value < 0x80) this.#byte(Number(value))
      else if (value < 0x100) this.#byteAnd(0xcc, 1, Number(value))
      else if (value < 0x1_0000) this.#byteAnd(0xcd, 2, Number(value))
      else if (value < 0x1_0000_0000) this.#byteAnd(0xce, 4, Number(value))
      else this.#wide(0xcf, BigInt(value))
    } else if (value >= -0x20) this.#byte(Number(value) + 0x100)
    else if (value >= -0x80) this.#byteAnd(0xd0, 1, Number(value) + 0x100)
    else if (value >= -0x8000) this.#byteAnd(0xd1, 2, Number(value) + 0x1_0000)
    else if (value >= -0x8000_0000) this.#byteAnd(0xd2, 4, Number(value) + 0x1_0000_0000)
    else this.#wide(0xd3, BigInt(value))
  }

  /** Always five bytes, however small the number. */
  u32(value: number): void {
    this.#byteAnd(0xce, 4, value)
  }

  f32(value: number): void {
    const at = this.#room(5)
    this.#bytes[at] = 0xca
    this.#view.setFloat32(at + 1, value)
  }

  /** A float32 by its bits, which keeps what a number cannot: the payload of a NaN. */
  f32Bits(bits: number): void {
    this.#byteAnd(0xca, 4, bits)
  }

  f64(value: number): void {
    const at = this.#room(9)
    this.#bytes[at] = 0xcb
    this.#view.setFloat64(at + 1, value)
  }

  str(text: string | Uint8Array): void {
    if (typeof text === 'string' && text.length < shortText && this.#ascii(text)) return
    const bytes = typeof text === 'string' ? encodeUtf8(text) : text
    const { byteLength } = bytes
    if (byteLength < 32) this.#byte(0xa0 + byteLength)
    else this.#sized(0xd9, byteLength)
    this.raw(bytes)
  }

  /** Writes the text when it is plain ASCII, as names are; otherwise nothing. */
  #ascii(text: string): boolean {
    const { length } = text
    const header = length < 32 ? 1 : 2
    const at = this.#room(header + length)
    const bytes = this.#bytes
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i)
      if (unit > 0x7f) {
        this.#length = at
        return false
      }
      bytes[at + header + i] = unit
    }
    bytes[at] = header === 1 ? 0xa0 + length : 0xd9
    if (header === 2) bytes[at + 1] = length
    return true
  }

  /** Bytes as a string of hexadecimal digits. */
  hex(digest: Uint8Array): void {
    const length = 2 * digest.byteLength
    if (length < 32) this.#byte(0xa0 + length)
    else this.#sized(0xd9, length)
    const at = this.#room(length)
    for (let i = 0; i < digest.byteLength; i++) {
      const byte = digest[i]!
      this.#bytes[at + 2 * i] = hexDigits[Math.floor(byte / 16)]!
      this.#bytes[at + 2 * i + 1] = hexDigits[byte % 16]!
    }
  }

  bin(bytes: Uint8Array): void {
    this.binHeader(bytes.byteLength)
    this.raw(bytes)
  }

  /** For content that is written elsewhere. */
  binHeader(length: number): void {
    this.#sized(0xc4, length)
  }

  arrayHeader(count: number): void {
    if (count < 16) this.#byte(0x90 + count)
    else if (count < 0x1_0000) this.#byteAnd(0xdc, 2, count)
    else this.#byteAnd(0xdd, 4, checkLength(count))
  }

  mapHeader(count: number): void {
    if (count < 16) this.#byte(0x80 + count)
    else if (count < 0x1_0000) this.#byteAnd(0xde, 2, count)
    else this.#byteAnd(0xdf, 4, checkLength(count))
  }

  ext(type: number, data: Uint8Array): void {
    const { byteLength } = data
    const fixed = [1, 2, 4, 8, 16].indexOf(byteLength)
    if (fixed >= 0) this.#byte(0xd4 + fixed)
    else this.#sized(0xc7, byteLength)
    const at = this.#room(1)
    this.#view.setInt8(at, type)
    this.raw(data)
  }

  #sized(form: number, length: number): void {
    if (length < 0x100) this.#byteAnd(form, 1, length)
    else if (length < 0x1_0000) this.#byteAnd(form + 1, 2, length)
    else this.#byteAnd(form + 2, 4, checkLength(length))
  }

  #byte(value: number): void {
    const at = this.#room(1)
    this.#bytes[at] = value
  }

  #byteAnd(form: number, width: 1 | 2 | 4, value: number): void {
    const at = this.#room(1 + width)
    this.#bytes[at] = form
    if (width === 1) this.#view.setUint8(at + 1, value)
    else if (width === 2) this.#view.setUint16(at + 1, value)
    else this.#view.setUint32(at + 1, value)
  }

  #wide(form: number, value: bigint): void {
    if (value >= 1n << 64n || value < -(1n << 63n)) throw new RangeError(`${value} does not fit 64 bits`)
    const at = this.#room(9)
    this.#bytes[at] = form
    this.#view.setBigUint64(at + 1, BigInt.asUintN(64, value))
  }

  #room(length: number): number {
    const at = this.#length
    this.#length += length
    if (this.#length > this.#bytes.byteLength) {
      const larger = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.byteLength))
      larger.set(this.#bytes.subarray(0, at))
      this.#bytes = larger
      this.#view = new DataView(larger.buffer)
    }
    return at
  }
}

/** Texts whose length is one byte. */
const shortText = 256
const hexDigits = encodeUtf8('0123456789abcdef')

function checkLength(length: number): number {
  if (length > 0xffff_ffff) throw new RangeError(`MessagePack has no place for a length of ${length}`)
  return length
}

export interface EncodeMsgpackOptions {
  /** Order of map keys: by their UTF-8 bytes (strings after all other keys, which are by value), or as the Map has them. */
  readonly keyOrder?: 'utf8' | 'given'
  /** Width of numbers that are not whole: always 64 bits, or 32 where that loses nothing. */
  readonly floats?: 'f64' | 'shortest'
}

/** Whole numbers in their shortest form, -0 and fractions as floats. The default order of map keys is by their bytes. */
export function encodeMsgpack(value: MsgpackNode, options: EncodeMsgpackOptions = {}): Uint8Array {
  const writer = new MsgpackWriter()
  write(writer, value, options)
  return writer.finish()
}

function write(writer: MsgpackWriter, value: MsgpackNode, options: EncodeMsgpackOptions): void {
  if (value === null) writer.nil()
  else if (typeof value === 'boolean') writer.bool(value)
  else if (typeof value === 'bigint') writer.int(value)
  else if (typeof value === 'number') writeNumber(writer, value, options)
  else if (typeof value === 'string') writer.str(value)
  else if (value instanceof Uint8Array) writer.bin(value)
  else if (value instanceof Map) writeMap(writer, value, options)
  else if (Array.isArray(value)) {
    writer.arrayHeader(value.length)
    for (const item of value) write(writer, item, options)
  } else writeTagged(writer, value)
}

function writeTagged(writer: MsgpackWriter, value: MsgpackExt | MsgpackFloat | MsgpackRawText): void {
  if ('ext' in value) writer.ext(value.ext, value.data)
  else if ('text' in value) writer.str(value.text)
  else if (value.float === 32) writer.f32(value.value)
  else writer.f64(value.value)
}

function writeNumber(writer: MsgpackWriter, value: number, { floats }: EncodeMsgpackOptions): void {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) writer.int(value)
  else if (floats === 'shortest' && Object.is(Math.fround(value), value)) writer.f32(value)
  else writer.f64(value)
}

function writeMap(writer: MsgpackWriter, map: MsgpackMap, options: EncodeMsgpackOptions): void {
  const entries = [...map]
  if (options.keyOrder !== 'given') entries.sort(([a], [b]) => compareKeys(a, b))
  writer.mapHeader(entries.length)
  for (const [key, value] of entries) {
    write(writer, key, options)
    write(writer, value, options)
  }
}

function compareKeys(a: MsgpackKey, b: MsgpackKey): number {
  if (typeof a === 'string' && typeof b === 'string') return compareUtf8(a, b)
  const rank = (key: MsgpackKey): number =>
    key === null ? 0 : typeof key === 'boolean' ? 1 : typeof key === 'string' ? 3 : 2
  if (rank(a) !== rank(b)) return rank(a) - rank(b)
  return a! < b! ? -1 : a! > b! ? 1 : 0
}
