// A writer of pickles in protocol 2, with the opcodes and the memo numbers of Python's own: what it is given as plain dicts, lists, texts and
// calls comes out as Python would write it. Objects that occur again are written as a reference to the first occurrence.
import { encodeUtf8 } from '../../bytes/index.js'
import { encodeLoosely } from './text.js'
import { PickleDict, PickleGlobal, PickleList, PickleObject, PickleReference, type PickleValue } from './values.js'

const op = {
  proto: 0x80,
  stop: 0x2e,
  mark: 0x28,
  none: 0x4e,
  newTrue: 0x88,
  newFalse: 0x89,
  binInt: 0x4a,
  binInt1: 0x4b,
  binInt2: 0x4d,
  long1: 0x8a,
  long4: 0x8b,
  binFloat: 0x47,
  binUnicode: 0x58,
  emptyDict: 0x7d,
  emptyList: 0x5d,
  emptyTuple: 0x29,
  tuple1: 0x85,
  tuple: 0x74,
  append: 0x61,
  appends: 0x65,
  setItem: 0x73,
  setItems: 0x75,
  global: 0x63,
  reduce: 0x52,
  build: 0x62,
  persistentId: 0x51,
  binGet: 0x68,
  longBinGet: 0x6a,
  binPut: 0x71,
  longBinPut: 0x72,
} as const

/** How many items one opcode takes in Python. */
const batch = 1000

export type PickleEntries = Iterable<readonly [key: PickleValue, value: PickleValue]>

/** The pickle of a value. */
export function writePickle(value: PickleValue): Uint8Array {
  const writer = new PickleWriter()
  writer.value(value)
  return writer.finish()
}

export class PickleWriter {
  #bytes = new Uint8Array(1 << 10)
  #length = 0
  #memoSize = 0
  /** Texts and names are known by what they say. */
  readonly #texts = new Map<string, number>()
  readonly #globals = new Map<string, number>()
  /** Everything else is known by itself. */
  readonly #objects = new Map<object, number>()

  constructor() {
    this.#byte(op.proto)
    this.#byte(2)
  }

  finish(): Uint8Array {
    this.#byte(op.stop)
    return this.#bytes.slice(0, this.#length)
  }

  value(value: PickleValue): void {
    if (value === null) this.#byte(op.none)
    else if (typeof value === 'boolean') this.#byte(value ? op.newTrue : op.newFalse)
    else if (typeof value === 'bigint') this.#integer(value)
    else if (typeof value === 'number') this.#float(value)
    else if (typeof value === 'string') this.#text(value)
    else if (value instanceof PickleGlobal) this.#global(value.module, value.name)
    else if (!this.#known(value)) this.#object(value)
  }

  /** Whether the object was written before; then a reference to it is written. */
  #known(object: object): boolean {
    const index = this.#objects.get(object)
    if (index === undefined) return false
    this.#get(index)
    return true
  }

  #object(value: Uint8Array | PickleList | PickleDict | PickleObject | PickleReference): void {
    if (value instanceof Uint8Array) this.#octets(value)
    else if (value instanceof PickleDict) this.#dict(value.size, value.entries(), value)
    else if (value instanceof PickleReference) {
      this.value(value.id)
      this.#byte(op.persistentId)
    } else if (value instanceof PickleObject) this.#call(value)
    else if (value.kind === 'tuple') this.#tuple(value)
    else if (value.kind === 'list') this.#list(value)
    else this.#set(value)
  }

  /** A dict of entries that have no object in common: each is forgotten when it is written. */
  separateDict(size: number, entries: PickleEntries): void {
    this.#dict(size, this.#forgetting(entries), {})
  }

  *#forgetting(entries: PickleEntries): PickleEntries {
    for (const entry of entries) {
      yield entry
      this.#objects.clear()
    }
  }

  #dict(size: number, entries: PickleEntries, identity: object): void {
    this.#byte(op.emptyDict)
    this.#remember(identity)
    if (size === 0) return
    if (size === 1) {
      for (const [key, value] of entries) {
        this.value(key)
        this.value(value)
      }
      this.#byte(op.setItem)
      return
    }
    this.#byte(op.mark)
    let count = 0
    for (const [key, value] of entries) {
      this.value(key)
      this.value(value)
      if (++count % batch > 0) continue
      this.#byte(op.setItems)
      this.#byte(op.mark)
    }
    this.#byte(op.setItems)
  }

  #list(list: PickleList): void {
    this.#byte(op.emptyList)
    this.#remember(list)
    this.#items(list.items)
  }

  #items(items: readonly PickleValue[]): void {
    for (let from = 0; from < items.length; from += batch) {
      const part = items.slice(from, from + batch)
      if (part.length > 1) this.#byte(op.mark)
      for (const item of part) this.value(item)
      this.#byte(part.length > 1 ? op.appends : op.append)
    }
  }

  /** Entries of something other than a plain dict: Python looks one ahead, so that a last single entry has an opcode of its own. */
  #entries(entries: readonly (readonly [PickleValue, PickleValue])[]): void {
    for (let from = 0; from < entries.length; from += batch) {
      const part = entries.slice(from, from + batch)
      if (part.length > 1) this.#byte(op.mark)
      for (const [key, value] of part) {
        this.value(key)
        this.value(value)
      }
      this.#byte(part.length > 1 ? op.setItems : op.setItem)
    }
  }

  #tuple(tuple: PickleList): void {
    const { items } = tuple
    if (items.length === 0) {
      this.#byte(op.emptyTuple)
      return
    }
    if (items.length > 3) this.#byte(op.mark)
    for (const item of items) this.value(item)
    this.#byte(items.length > 3 ? op.tuple : op.tuple1 + items.length - 1)
    this.#remember(tuple)
  }

  /** Protocol 2 has no opcode for sets. */
  #set(set: PickleList): void {
    this.#global('__builtin__', 'set')
    this.value(new PickleList('tuple', [new PickleList('list', set.items)]))
    this.#byte(op.reduce)
    this.#remember(set)
  }

  /** Nor for bytes: they are a text of as many characters, encoded. */
  #octets(bytes: Uint8Array): void {
    let text = ''
    for (const byte of bytes) text += String.fromCharCode(byte)
    this.#global('_codecs', 'encode')
    this.value(new PickleList('tuple', [text, 'latin1']))
    this.#byte(op.reduce)
    this.#remember(bytes)
  }

  #call(object: PickleObject): void {
    this.value(object.callee)
    this.value(object.args)
    this.#byte(op.reduce)
    this.#remember(object)
    if (object.hasItems) this.#items(object.items)
    if (object.hasEntries) this.#entries([...object.entries.entries()])
    if (object.state === undefined) return
    this.value(object.state)
    this.#byte(op.build)
  }

  #integer(value: bigint): void {
    if (value >= 0n && value < 0x100n) {
      this.#byte(op.binInt1)
      this.#byte(Number(value))
    } else if (value >= 0n && value < 0x1_0000n) this.#number(op.binInt2, Number(value), 2)
    else if (value >= -0x8000_0000n && value < 0x8000_0000n) {
      this.#number(op.binInt, Number(BigInt.asUintN(32, value)), 4)
    } else this.#long(value)
  }

  /** Two's complement, in as few bytes as hold it. */
  #long(value: bigint): void {
    let length = 1
    while (BigInt.asIntN(8 * length, value) !== value) length++
    if (length < 0x100) {
      this.#byte(op.long1)
      this.#byte(length)
    } else this.#number(op.long4, length, 4)
    let rest = BigInt.asUintN(8 * length, value)
    for (let i = 0; i < length; i++) {
      this.#byte(Number(rest % 0x100n))
      rest /= 0x100n
    }
  }

  #float(value: number): void {
    this.#byte(op.binFloat)
    const at = this.#room(8)
    new DataView(this.#bytes.buffer).setFloat64(at, value, false)
  }

  #text(value: string): void {
    const known = this.#texts.get(value)
    if (known !== undefined) {
      this.#get(known)
      return
    }
    const bytes = value.isWellFormed() ? encodeUtf8(value) : encodeLoosely(value)
    this.#number(op.binUnicode, bytes.byteLength, 4)
    this.#raw(bytes)
    this.#texts.set(value, this.#put())
  }

  #global(module: string, name: string): void {
    const key = `${module}\n${name}\n`
    const known = this.#globals.get(key)
    if (known !== undefined) {
      this.#get(known)
      return
    }
    this.#byte(op.global)
    this.#raw(encodeUtf8(key))
    this.#globals.set(key, this.#put())
  }

  #remember(object: object): void {
    this.#objects.set(object, this.#put())
  }

  #put(): number {
    const index = this.#memoSize++
    this.#indexed(op.binPut, op.longBinPut, index)
    return index
  }

  #get(index: number): void {
    this.#indexed(op.binGet, op.longBinGet, index)
  }

  #indexed(short: number, long: number, index: number): void {
    if (index < 0x100) this.#number(short, index, 1)
    else this.#number(long, index, 4)
  }

  /** An opcode with a little-endian number. */
  #number(opcode: number, value: number, length: 1 | 2 | 4): void {
    this.#byte(opcode)
    const at = this.#room(length)
    const view = new DataView(this.#bytes.buffer)
    if (length === 1) view.setUint8(at, value)
    else if (length === 2) view.setUint16(at, value, true)
    else view.setUint32(at, value, true)
  }

  #byte(byte: number): void {
    const at = this.#room(1)
    this.#bytes[at] = byte
  }

  #raw(bytes: Uint8Array): void {
    const at = this.#room(bytes.byteLength)
    this.#bytes.set(bytes, at)
  }

  /** Makes room for this many bytes; gives the place of the first. */
  #room(length: number): number {
    const at = this.#length
    this.#length += length
    if (this.#length <= this.#bytes.byteLength) return at
    const larger = new Uint8Array(Math.max(this.#length, 2 * this.#bytes.byteLength))
    larger.set(this.#bytes.subarray(0, at))
    this.#bytes = larger
    return at
  }
}
