// The values of the format are MessagePack values in fixed forms. A number is always five bytes: 0xce and a big-endian u32, or 0xca and
// a big-endian float32. The reference refuses every other form, however small the number; lengths, in contrast, may have any form.
//
// document: speaks of uint32 and float as types of value; reference: accepts these two encodings only.
//
// The format has no index: what is in a file is found by walking from record to record and stepping over the data in between. Where the data
// is small, the file is read through in growing windows; where it is large, only what lies between two tensors is read behind each jump.
import { type ByteSource, type ExtentKind, Shortage, WindowReader } from '../../bytes/index.js'
import type { Code, Details } from '../../errors/index.js'
import type { ReadContext } from '../../model/index.js'
import { type MsgpackKind, MsgpackReader, nameOf } from '../../wire/msgpack/index.js'
import { codes } from './codes.js'
import { shownText } from './keys.js'

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

/** Expected behind the first tensor: a count, a key and a shape. */
const firstGap = 64
/** The next key may be some letters longer than the last. */
const slack = 6
const maxGap = 1 << 12
/** One record may always take this much, whatever the limit for index data. */
const minLimit = 1 << 22

/** Reads one field after another, and holds back what it has to say until the record is complete. */
export class FieldReader {
  readonly source: ByteSource
  readonly context: ReadContext
  readonly msgpack: MsgpackReader
  /** The path of the record that is being read. */
  scope: () => string = () => ''
  /** Which tensor of its parameter is read: 0 is the value, its statistics follow. */
  place = 0
  /** How many bytes of data the shape that was read last calls for. */
  wanted: number | undefined
  readonly #window: WindowReader
  /** How many bytes lay between the data of the tensor at each place and the data behind it, the last time. */
  readonly #gaps: number[] = []
  #dataPlace = 0
  #dataEnd = 0
  /** The last name at each place of a key: the keys of neighbours share most of their names, and so they share the strings. */
  readonly #names: string[] = []
  #field = ''
  #index = -1
  #held: (() => void)[] = []

  constructor(source: ByteSource, context: ReadContext, offset = 0) {
    this.source = source
    this.context = context
    // Reads behind a jump are exactly as long as the gaps before suggest, so the window itself asks for little.
    this.#window = new WindowReader(source, { signal: context.signal, min: 16, max: 1 << 18 })
    const where = (): string => this.path()
    this.msgpack = new MsgpackReader(this.#window.bytes, context.report, { base: offset, end: source.size, where })
  }

  /**
   * Reads records until `read` returns false. One that runs out of the window is read again from its beginning with more bytes at hand, so
   * `read` must not keep anything before it has read all of it.
   */
  async records(read: () => boolean): Promise<void> {
    for (;;) {
      const start = this.msgpack.offset
      try {
        const isMore = read()
        this.commit()
        if (!isMore) return
      } catch (error) {
        if (!(error instanceof Shortage)) {
          this.commit() // what was noticed before belongs before it
          throw error
        }
        this.#held = []
        await this.#reach(start, error)
      }
    }
  }

  async record<T>(read: () => T): Promise<T> {
    let result: T
    await this.records(() => {
      result = read()
      return false
    })
    return result!
  }

  async #reach(start: number, { offset, length }: Shortage): Promise<void> {
    const needed = offset + length - start
    const { indexBytes } = this.context.limits
    if (needed > Math.max(minLimit, indexBytes))
      this.fail('index-limit', start, `more than ${indexBytes} bytes would have to be read for one record`)
    const expected = Math.min(maxGap, this.#gaps[this.#dataPlace] ?? firstGap) + slack
    await this.#window.reach(start, Math.max(needed, Math.min(expected, this.source.size - start)))
    this.msgpack.moveTo(this.#window.bytes, start)
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
    if (this.context.extents) this.#note(start, msgpack.offset - start, 'field', value)
    return value
  }

  float(field: string): FloatValue {
    this.#enter(field)
    const { msgpack } = this
    const start = msgpack.offset
    const result = msgpack.peek() === 0xca ? fromBits(msgpack.takeU32()) : this.#otherFloat(start)
    if (this.context.extents) this.#note(start, msgpack.offset - start, 'field', result.value)
    return result
  }

  name(field: string, index = -1): Name {
    this.#enter(field, index)
    const { msgpack } = this
    const start = msgpack.offset
    this.#expect('str', start)
    const known = msgpack.takeText(msgpack.length, this.#names[index + 1])
    const raw = known === undefined ? msgpack.take(msgpack.length).slice() : undefined
    const text = known ?? shownText(raw!)
    this.#names[index + 1] = text
    if (this.context.extents) this.#note(start, msgpack.offset - start, 'field', text.slice(0, 200))
    if (raw) this.say('name-utf8', start, `the name ${JSON.stringify(text)} is not UTF-8`)
    return { text, raw }
  }

  /** The number of items or pairs that follow. */
  container(kind: 'array' | 'map', field: string): number {
    this.#enter(field)
    const { msgpack } = this
    const start = msgpack.offset
    this.#expect(kind, start)
    if (this.context.extents) this.#note(start, msgpack.offset - start, 'field', msgpack.length)
    return msgpack.length
  }

  /** The length of data that follows. */
  binHeader(field: string): number {
    this.#enter(field)
    const { msgpack } = this
    const start = msgpack.offset
    this.#expect('bin', start)
    if (this.context.extents)
      this.#note(start, msgpack.offset - start, 'field', msgpack.length, `${this.path()}_header`)
    return msgpack.length
  }

  /** Steps over the data of a tensor. */
  skip(length: number): void {
    const { msgpack } = this
    if (this.context.extents) this.#note(msgpack.offset, length, 'data')
    this.#gaps[this.#dataPlace] = msgpack.offset - this.#dataEnd
    this.#dataPlace = this.place
    msgpack.position += length
    this.#dataEnd = msgpack.offset
  }

  say(code: keyof typeof codes, offset: number, message: string, path = this.path()): void {
    this.#held.push(() => this.context.report.report(codes[code] as Code, { offset, path, message } as Details))
  }

  fail(code: keyof typeof codes, offset: number, message: string, path = this.path()): never {
    this.commit()
    return this.context.report.fail(codes[code], { offset, path, message })
  }

  /** Says what was held back. */
  commit(): void {
    if (this.#held.length === 0) return
    const held = this.#held
    this.#held = []
    for (const each of held) each()
  }

  #note(offset: number, length: number, kind: ExtentKind, value?: string | number, path = this.path()): void {
    const extent = { file: this.source.name, offset, length, path, kind, value }
    this.#held.push(() => this.context.extents?.add(extent))
  }

  #enter(field: string, index = -1): void {
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
