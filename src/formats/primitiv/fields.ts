// The values of the format are MessagePack values in fixed forms. A number is always five bytes: 0xce and a big-endian u32, or 0xca and
// a big-endian float32. The reference refuses every other form, however small the number; lengths, in contrast, may have any form.
//
// document: speaks of uint32 and float as types of value; reference: accepts these two encodings only.
import { decodeUtf8, type ExtentKind } from '../../bytes/index.js'
import type { Code, Details } from '../../errors/index.js'
import type { ReadContext } from '../../model/index.js'
import { type MsgpackKind, type MsgpackReader, nameOf } from '../../wire/msgpack/index.js'
import { codes } from './codes.js'
import { shownText } from './names.js'

export interface Name {
  readonly text: string
  /** Set when the bytes are not UTF-8. */
  readonly raw: Uint8Array | undefined
}

export interface FloatValue {
  readonly value: number
  /** The bits as stored; the number alone would lose what a NaN carries. */
  readonly bits: number
}

/** Reads one field after another, and holds back what it has to say until `commit`. */
export class FieldReader {
  readonly msgpack: MsgpackReader
  readonly context: ReadContext
  /** The path of the record that is being read. */
  scope: () => string = () => ''
  /** Which tensor of its parameter is read: 0 is the value, its statistics follow. */
  place = 0
  /** How many bytes of data the shape that was read last calls for. */
  wanted: number | undefined
  /** Is told about data that is stepped over. */
  onSkip: (offset: number, length: number, place: number) => void = () => {}
  readonly #file: string
  #field = ''
  #index = -1
  #held: (() => void)[] = []

  constructor(msgpack: MsgpackReader, context: ReadContext, file: string) {
    this.msgpack = msgpack
    this.context = context
    this.#file = file
    msgpack.where = () => this.path()
  }

  /** `params["a.b"].value.dims[1]`: the record and the field in it. */
  path(field = this.#field, index = this.#index): string {
    const scope = this.scope()
    const inside = index < 0 ? field : `${field}[${index}]`
    return scope === '' || inside === '' ? scope + inside : `${scope}.${inside}`
  }

  uint(field: string, index = -1): number {
    this.#enter(field, index)
    const { msgpack } = this
    const start = msgpack.offset
    const value = msgpack.peek() === 0xce ? msgpack.takeU32() : this.#otherUint(start)
    if (this.context.extents) this.note(start, msgpack.offset - start, 'field', value)
    return value
  }

  float(field: string, index = -1): FloatValue {
    this.#enter(field, index)
    const { msgpack } = this
    const start = msgpack.offset
    const result = msgpack.peek() === 0xca ? fromBits(msgpack.takeU32()) : this.#otherFloat(start)
    if (this.context.extents) this.note(start, msgpack.offset - start, 'field', result.value)
    return result
  }

  name(field: string, index = -1): Name {
    this.#enter(field, index)
    const { msgpack } = this
    const start = msgpack.offset
    this.#expect('str', start)
    const name = this.#decode(msgpack.length)
    if (this.context.extents) this.note(start, msgpack.offset - start, 'field', name.text.slice(0, 200))
    if (name.raw) this.say('name-utf8', start, `the name ${JSON.stringify(name.text)} is not UTF-8`)
    return name
  }

  #decode(length: number): Name {
    const plain = this.msgpack.takeAscii(length)
    if (plain !== undefined) return { text: plain, raw: undefined }
    const bytes = this.msgpack.take(length)
    const text = decodeUtf8(bytes)
    return text === undefined ? { text: shownText(bytes), raw: bytes.slice() } : { text, raw: undefined }
  }

  /** The number of items or pairs that follow. */
  container(kind: 'array' | 'map', field: string): number {
    this.#enter(field, -1)
    const start = this.msgpack.offset
    this.#expect(kind, start)
    if (this.context.extents) this.note(start, this.msgpack.offset - start, 'field', this.msgpack.length)
    return this.msgpack.length
  }

  /** Leaves the data itself alone. */
  binHeader(field: string): number {
    this.#enter(field, -1)
    const start = this.msgpack.offset
    this.#expect('bin', start)
    if (this.context.extents) {
      const { length } = this.msgpack
      this.note(start, this.msgpack.offset - start, 'field', length, `${this.path()}_header`)
    }
    return this.msgpack.length
  }

  /** Steps over data that was announced, and notes it in the byte map. */
  skip(length: number): void {
    const { msgpack } = this
    if (this.context.extents) this.note(msgpack.offset, length, 'data')
    this.onSkip(msgpack.offset, length, this.place)
    msgpack.position += length
  }

  note(offset: number, length: number, kind: ExtentKind, value?: string | number, path = this.path()): void {
    const extent = { file: this.#file, offset, length, path, kind, value }
    this.#held.push(() => this.context.extents?.add(extent))
  }

  say(code: keyof typeof codes, offset: number, message: string, path = this.path()): void {
    this.#held.push(() => this.context.report.report(codes[code] as Code, { offset, path, message } as Details))
  }

  fail(code: keyof typeof codes, offset: number, message: string, path = this.path()): never {
    this.commit()
    return this.context.report.fail(codes[code], { offset, path, message })
  }

  /** Says what was held back: the record is complete. */
  commit(): void {
    if (this.#held.length === 0) return
    const held = this.#held
    this.#held = []
    for (const each of held) each()
  }

  discard(): void {
    this.#held = []
  }

  #enter(field: string, index: number): void {
    this.#field = field
    this.#index = index
  }

  #expect(wanted: MsgpackKind, start: number): void {
    const found = this.msgpack.next()
    if (found !== wanted) this.fail('value-kind', start, `${nameOf(wanted)} was expected, ${nameOf(found)} found`)
  }

  #otherUint(start: number): number {
    const { msgpack } = this
    const kind = msgpack.next()
    if (kind !== 'int') this.fail('value-kind', start, `a 32-bit number was expected, ${nameOf(kind)} found`)
    const { value } = msgpack
    if (value < 0 || value > 0xffff_ffff) this.fail('number-range', start, `${value} is not in 0..4294967295`)
    this.#sayForm(start, 0xce)
    return Number(value)
  }

  #otherFloat(start: number): FloatValue {
    const { msgpack } = this
    const kind = msgpack.next()
    const { lenient } = this.context
    // Encoders that shrink numbers write 1.0 as the integer 1.
    if (kind !== 'float' && !(kind === 'int' && lenient))
      this.fail('value-kind', start, `a 32-bit float was expected, ${nameOf(kind)} found`)
    const value = Number(msgpack.value)
    const rounded = Math.fround(value)
    if (Number.isFinite(value) && !Number.isFinite(rounded))
      this.fail('number-range', start, `${value} is beyond what 32 bits can hold`)
    this.#sayForm(start, 0xca)
    floatScratch[0] = rounded
    return { value: rounded, bits: bitScratch[0]! }
  }

  #sayForm(start: number, wanted: number): void {
    const code = this.context.lenient ? 'number-form-taken' : 'number-form'
    const hex = (byte: number): string => `0x${byte.toString(16).padStart(2, '0')}`
    this.say(code, start, `the number begins with ${hex(this.msgpack.form)}, ${hex(wanted)} is the form for this place`)
  }
}

const floatScratch = new Float32Array(1)
const bitScratch = new Uint32Array(floatScratch.buffer)

function fromBits(bits: number): FloatValue {
  bitScratch[0] = bits
  return { value: floatScratch[0]!, bits }
}
