// Protobuf, read field by field. A message is a run of fields; each begins with a varint that holds the field's number and its wire type:
// 0 a varint, 1 eight bytes, 2 a length and that many bytes (text, a nested message, a packed list), 5 four bytes; 3 and 4 begin and end
// a group, an obsolete form. Fields come in any order, may be repeated, and those with unknown numbers are skipped.
//
// A varint has seven bits to a byte, the lowest first, and may be padded; it has at most ten bytes.
//
// The reader walks a file through a window and steps over payloads unread. While a field is visited, its place and value are in
// the reader's own properties: take what is needed before walking on or waiting.
import type { ByteSource, ExtentRecorder } from '../../bytes/index.js'
import type { Range } from '../../bytes/ranges.js'
import { WindowReader } from '../../bytes/window-reader.js'
import { type Code, neededSize, type Report } from '../../errors/index.js'
import { protobufCodes as codes } from './codes.js'
import { countVarints } from './varints.js'

export { protobufCodes } from './codes.js'

/** Which wire types a field may have; lists of numbers may be packed or not. */
const wiresOf = { varint: [0], varints: [0, 2], float: [5], floats: [5, 2], doubles: [1, 2], bytes: [2] } as const

export type FieldKind = keyof typeof wiresOf
export interface FieldSpec {
  readonly name: string
  readonly kind: FieldKind
  /** What a nested message is made of; a function, since messages can hold themselves. */
  readonly inner?: (() => MessageSpec) | undefined
}
/** The fields of a message that have a meaning, by number. */
export type MessageSpec = ReadonlyMap<number, FieldSpec>

type FieldRow = readonly [name: string, kind: FieldKind, inner?: () => MessageSpec]

export const message = (fields: Readonly<Record<number, FieldRow>>): MessageSpec =>
  new Map(Object.entries(fields).map(([number, [name, kind, inner]]) => [Number(number), { name, kind, inner }]))

/**
 * False leaves the content to the reader, which looks whether it is in order. True: the visitor has dealt with it, and with its place in the
 * byte map; a text says the same, and is the path of the field.
 */
export type Noted = boolean | string
/** Called for every field that the message knows, with a fitting wire type. */
export type Visit = (reader: ProtobufReader) => Noted | Promise<Noted>

export interface ProtobufOptions {
  readonly signal?: AbortSignal | undefined
  readonly extents?: ExtentRecorder | undefined
  /** How deep messages may be nested; at most, and by default, as deep as in the protobuf library. */
  readonly depth?: number
}

/** A field that was visited; `path` is that of the message around it. */
interface Visited extends Range {
  readonly at: number
  readonly path: string
  readonly name: string
}

const defaultDepth = 100
/** A tag and a varint or length, at their longest. */
const maxHeader = 20
const maxFieldNumber = 2 ** 29 - 1
/** Read behind a payload that was skipped: enough for the fields before the next one. */
const minWindow = 256
/** Longer packed lists of varints are checked when they are decoded. */
const maxCheckedList = 1 << 15

export class ProtobufReader {
  /** Number and wire type of the field that is visited. */
  field = 0
  wire = 0
  /** Offsets of the tag, of the value or payload, and of what follows the field. */
  at = 0
  start = 0
  end = 0
  /** The value of a varint, in two halves of 32 bits. */
  low = 0
  high = 0
  readonly source: ByteSource
  readonly #report: Report
  readonly #window: WindowReader
  readonly #options: ProtobufOptions
  readonly #depthLimit: number
  #depth = 0

  constructor(source: ByteSource, report: Report, options: ProtobufOptions = {}) {
    this.source = source
    this.#report = report
    this.#options = options
    this.#depthLimit = Math.min(options.depth ?? defaultDepth, defaultDepth)
    this.#window = new WindowReader(source, { signal: options.signal, min: minWindow })
  }

  get length(): number {
    return this.end - this.start
  }

  /** The varint as an int64. */
  get int64(): bigint {
    if (this.high === 0) return BigInt(this.low)
    return BigInt.asIntN(64, BigInt(this.high) * 0x1_0000_0000n + BigInt(this.low))
  }

  /** The varint as an int32 or enum: the low 32 bits, as every protobuf reader takes them. */
  get int32(): number {
    return this.low | 0
  }

  /** Walks the fields of a message: at once as far as the window and the visitor go. */
  walk({ start, end }: Range, path: string, spec: MessageSpec, visit: Visit): void | Promise<void> {
    this.#descend(start, path)
    let next = start
    while (next < end) {
      const done = this.#walkField(next, end, path, spec, visit)
      if (typeof done !== 'number') return this.#walkOn(done, end, path, spec, visit)
      next = done
    }
    this.#depth--
  }

  async #walkOn(first: Promise<number>, end: number, path: string, spec: MessageSpec, visit: Visit): Promise<void> {
    let next = await first
    while (next < end) {
      const done = this.#walkField(next, end, path, spec, visit)
      next = typeof done === 'number' ? done : await done
    }
    this.#depth--
  }

  /** Gives the end of the field. */
  #walkField(offset: number, limit: number, path: string, spec: MessageSpec, visit: Visit): number | Promise<number> {
    const ready = this.readField(offset, limit, path)
    return ready ? this.#visitAfter(ready, path, spec, visit) : this.#visitField(path, spec, visit)
  }

  async #visitAfter(ready: Promise<void>, path: string, spec: MessageSpec, visit: Visit): Promise<number> {
    await ready
    return this.#visitField(path, spec, visit)
  }

  #visitField(path: string, spec: MessageSpec, visit: Visit): number | Promise<number> {
    const { at, start, end, field, wire } = this
    const known = spec.get(field)
    const isFitting = known !== undefined && (wiresOf[known.kind] as readonly number[]).includes(wire)
    if (known && !isFitting) {
      const message = `the wire type ${wire} does not fit ${known.name}; it is skipped`
      this.#report.report(codes.mismatch, { offset: at, length: end - at, path: join(path, known.name), message })
    }
    const noted = isFitting ? visit(this) : false
    const visited: Visited = { at, start, end, path, name: known?.name ?? `field_${field}` }
    const inner = isFitting && wire === 2 && (known.inner !== undefined || known.kind !== 'bytes') ? known : undefined
    return typeof noted === 'object' ? this.#settleAfter(noted, visited, inner) : this.#settle(noted, visited, inner)
  }

  /** Looks inside content that the visitor left alone, where there is something to see, and notes the field in the byte map. */
  #settle(noted: Noted, field: Visited, inner: FieldSpec | undefined): number | Promise<number> {
    const looked = noted === false && inner ? this.#lookInside(inner, field, field.path) : noted
    if (typeof looked === 'object') return this.#settleAfter(looked, field, undefined)
    if (!this.#options.extents) return field.end
    const path = typeof looked === 'string' ? looked : join(field.path, field.name)
    this.#note(field.at, looked === false ? field.end : field.start, path)
    return field.end
  }

  async #settleAfter(noted: Promise<Noted>, field: Visited, inner: FieldSpec | undefined): Promise<number> {
    return this.#settle(await noted, field, inner)
  }

  /** Checks content that the visitor left alone; `path` is that of the message around it. */
  #lookInside({ name, kind, inner }: FieldSpec, place: Range, path: string): boolean | Promise<boolean> {
    if (inner)
      return after(
        this.walk(place, join(path, name), inner(), () => false),
        () => true,
      )
    const { start } = place
    const length = place.end - start
    const width = kind === 'floats' ? 4 : kind === 'doubles' ? 8 : 1
    let isWhole = length % width === 0
    if (kind === 'varints' && length <= maxCheckedList) {
      if (!this.#window.holds(start, length))
        return this.#window.reach(start, length).then(() => this.#lookInside({ name, kind }, place, path))
      isWhole = countVarints(this.#window.slice(start, length)) !== undefined
    }
    if (!isWhole) this.#fail(codes.packed, start, join(path, name), `${length} bytes are not a list of whole numbers`)
    return false
  }

  /** Hands the payload of the visited field to `use`: at once where it is at hand. The bytes are valid only inside `use`. */
  withPayload(use: (bytes: Uint8Array) => void): false | Promise<false> {
    const { start, length } = this
    if (this.#window.holds(start, length)) {
      use(this.#window.slice(start, length))
      return false
    }
    return this.source.read(start, length, { signal: this.#options.signal }).then((bytes) => {
      use(bytes)
      return false
    })
  }

  /** The bytes of a number that is stored as four or eight bytes; a view that is valid until the walk goes on. */
  fixedBytes(): Uint8Array {
    return this.#window.slice(this.start, this.length)
  }

  /** Reads the field at an offset inside a message that has an end: number, wire type, place, and the value of a varint. */
  readField(offset: number, end: number, path: string): void | Promise<void> {
    const room = Math.min(maxHeader, end - offset)
    if (!this.#window.holds(offset, room)) {
      return this.#window.reach(offset, room).then(() => this.readField(offset, end, path))
    }
    this.#parseField(offset, end, path)
    if (this.wire === 4) this.#fail(codes.group, offset, path, `group ${this.field} ends here, but was not begun`)
    return this.wire === 3 ? this.#skipGroup(this.field, this.start, end, path) : undefined
  }

  #parseField(at: number, limit: number, path: string): void {
    const valueAt = this.#readVarint(at, limit, path)
    this.at = at
    this.wire = this.low & 7
    // A tag has 32 bits.
    this.field = this.high === 0 ? this.low >>> 3 : maxFieldNumber + 1
    if (this.field === 0 || this.field > maxFieldNumber) {
      this.#fail(codes['field-number'], at, path, 'there is no field of this number')
    }
    if (this.wire === 0) {
      this.end = this.#readVarint(valueAt, limit, path)
      this.start = valueAt
    } else if (this.wire === 2) {
      const content = this.#readVarint(valueAt, limit, path)
      this.#place(content, this.high * 2 ** 32 + this.low, limit, path)
    } else if (this.wire === 1) this.#place(valueAt, 8, limit, path)
    else if (this.wire === 5) this.#place(valueAt, 4, limit, path)
    else if (this.wire < 5) this.#place(valueAt, 0, limit, path)
    else this.#fail(codes['wire-type'], at, path, `there is no wire type ${this.wire}`)
  }

  #place(start: number, length: number, limit: number, path: string): void {
    this.start = start
    this.end = start + length
    if (this.end <= limit) return
    const message = `field ${this.field} takes ${length} bytes, but its message has only ${limit - start} left`
    // Of a message inside another one only the length is wrong.
    this.#fail(codes.truncated, this.at, path, message, limit === this.source.size ? neededSize(this.end) : {})
  }

  /** Sets `low` and `high`; gives the offset behind the varint. */
  #readVarint(offset: number, limit: number, path: string): number {
    const { bytes, offset: base } = this.#window
    let at = offset
    this.low = 0
    this.high = 0
    for (let shift = 0; shift < 70; shift += 7) {
      if (at >= limit) this.#fail(codes.truncated, offset, path, 'the message ends inside a varint')
      const byte = bytes[at++ - base]!
      const bits = byte & 0x7f
      if (shift < 28) this.low = (this.low | (bits << shift)) >>> 0
      else if (shift === 28) {
        this.low = (this.low | (bits << 28)) >>> 0
        this.high = bits >>> 4
      } else if (shift < 63 || bits < 2) this.high = (this.high | (bits << (shift - 32))) >>> 0
      else this.#fail(codes.varint, offset, path, 'a varint holds more than 64 bits')
      if (byte < 0x80) return at
    }
    return this.#fail(codes.varint, offset, path, 'a varint takes more than ten bytes')
  }

  /** Goes on to the tag that ends the group; the whole of it is then the field. */
  async #skipGroup(group: number, start: number, limit: number, path: string): Promise<void> {
    this.#descend(start, path)
    const { at } = this
    let next = start
    while (next < limit) {
      await this.#window.reach(next, Math.min(maxHeader, limit - next))
      this.#parseField(next, limit, path)
      const { field, wire } = this
      if (wire === 3) await this.#skipGroup(field, this.start, limit, path)
      next = this.end
      if (wire !== 4) continue
      if (field !== group) break
      this.#depth--
      Object.assign(this, { field, wire: 3, at, start, end: next })
      return
    }
    this.#fail(codes.group, at, path, `group ${group} does not end`)
  }

  #descend(offset: number, path: string): void {
    if (++this.#depth <= this.#depthLimit) return
    this.#fail(codes.depth, offset, path, `more than ${this.#depthLimit} messages are nested here`)
  }

  #note(offset: number, end: number, path: string): void {
    const value = this.wire === 0 && this.at === offset && this.end === end ? this.int64 : undefined
    this.#options.extents?.add({ file: this.source.name, offset, length: end - offset, path, kind: 'field', value })
  }

  #fail(code: Code, offset: number, path: string, message: string, needs: { readonly needs?: number } = {}): never {
    return this.#report.fail(code, { offset, path: path === '' ? 'file' : path, message, ...needs })
  }
}

/** What follows a value that may have to be waited for. Most are there already, and a promise for each field of a graph would take time. */
export const after = <T, R>(value: T | Promise<T>, use: (value: T) => R | Promise<R>): R | Promise<R> =>
  value instanceof Promise ? value.then(use) : use(value)

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)
