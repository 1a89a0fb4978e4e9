// Plain values of a checkpoint as metadata: numbers, texts, lists of them, and the few objects that are nothing more.
import { encodeUtf8 } from '../../bytes/index.js'
import { type JsonValue, listOf, type MetaValue, text } from '../../model/index.js'
import { PickleDict, PickleGlobal, PickleList, PickleObject, type PickleValue } from '../../wire/pickle.js'
import { firstArgument } from './rebuild.js'

const lowest64 = -(2n ** 63n)
const limit64 = 2n ** 63n
const limitU64 = 2n ** 64n

/** The value of something that needs no name of its own for its parts, or undefined. */
export function plainValue(value: PickleValue): MetaValue | undefined {
  if (value === null) return { type: 'null' }
  if (typeof value === 'boolean') return { type: 'bool', value }
  if (typeof value === 'number') return { type: 'f64', value }
  if (typeof value === 'bigint') return integer(value)
  if (typeof value === 'string') return string(value)
  if (value instanceof Uint8Array) return { type: 'bytes', value }
  if (value instanceof PickleGlobal) return text(value.fullName)
  if (value instanceof PickleList) return list(value.items)
  return value instanceof PickleObject ? plainObject(value) : undefined
}

function integer(value: bigint): MetaValue {
  const fits = value >= lowest64 && value < limitU64
  if (!fits) return text(value.toString()) // Python's integers have no limit; types that could hold this one do not exist
  const isSafe = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
  return { type: value < limit64 ? 'i64' : 'u64', value: isSafe ? Number(value) : value }
}

function string(value: string): MetaValue {
  const shown = value.toWellFormed()
  return shown === value ? text(value) : { type: 'str', value: shown, bytes: encodeLoosely(value) }
}

/** UTF-8 in which halves of surrogate pairs have three bytes, as Python stores them. */
function encodeLoosely(value: string): Uint8Array {
  const bytes: number[] = []
  for (const character of value) {
    const code = character.codePointAt(0)!
    if (code >= 0xd800 && code < 0xe000)
      bytes.push(0xed, 0x80 + (Math.floor(code / 64) % 64), 0x80 + (code % 64))
    else for (const byte of encodeUtf8(character)) bytes.push(byte)
  }
  return Uint8Array.from(bytes)
}

/** A list of scalars is one value. */
function list(items: readonly PickleValue[]): MetaValue | undefined {
  if (items.length === 0) return { type: 'json', value: [] }
  if (!items.every(isScalar)) return undefined
  const values = items.map((item) => plainValue(item)!)
  const [first] = values
  return listOf(values.every((value) => value.type === first!.type) ? first!.type : 'mixed', values)
}

const isScalar = (value: PickleValue): boolean =>
  value === null || (typeof value !== 'object' && typeof value !== 'function')

function plainObject(object: PickleObject): MetaValue | undefined {
  const args = object.args instanceof PickleList ? object.args.items : []
  const [first, second] = args
  switch (object.className) {
    case 'torch.Size':
    case '__builtin__.set':
    case 'builtins.set':
    case '__builtin__.frozenset':
    case 'builtins.frozenset':
      return first instanceof PickleList ? list(first.items) : list(object.items)
    case 'collections.deque':
      return list(first instanceof PickleList ? first.items : object.items)
    case 'torch.device':
      return typeof first === 'string' ? text(typeof second === 'bigint' ? `${first}:${second}` : first) : undefined
    case 'torch.serialization._get_layout':
      return typeof first === 'string' ? text(first) : undefined
    case '__builtin__.complex':
    case 'builtins.complex':
      return text(`(${String(first ?? 0)}, ${String(second ?? 0)})`)
    case '_codecs.encode':
    case '__builtin__.bytearray':
    case 'builtins.bytearray':
    case '__builtin__.bytes':
    case 'builtins.bytes':
      return bytesValue(object)
    default:
      return undefined
  }
}

/** Bytes are spelled as Latin-1 text in protocol 2: bytearray(encode("abc", "latin1")). */
function bytesValue(object: PickleObject): MetaValue | undefined {
  const first = firstArgument(object)
  if (first === undefined) return { type: 'bytes', value: new Uint8Array() }
  if (first instanceof Uint8Array) return { type: 'bytes', value: first }
  if (typeof first === 'string') {
    return { type: 'bytes', value: Uint8Array.from(first, (character) => character.charCodeAt(0)) }
  }
  return first instanceof PickleObject && first.className === '_codecs.encode' ? bytesValue(first) : undefined
}

/** How a key stands in a name. */
export function keyText(key: PickleValue): string {
  if (typeof key === 'string') return key.toWellFormed()
  if (key === null) return 'None'
  if (typeof key === 'boolean') return key ? 'True' : 'False'
  if (typeof key === 'bigint' || typeof key === 'number') return String(key)
  if (key instanceof PickleList) return `(${key.items.slice(0, 16).map((item) => (item instanceof PickleList ? '…' : keyText(item))).join(', ')})`
  if (key instanceof PickleGlobal) return key.fullName
  return 'object'
}

/** A small tree of plain values as JSON, or undefined when there is anything else in it. */
export function plainJson(value: PickleValue, depth = 0): JsonValue | undefined {
  if (depth > 16) return undefined
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString()
  if (value instanceof PickleList) {
    const items = value.items.map((item) => plainJson(item, depth + 1))
    return items.includes(undefined) ? undefined : (items as JsonValue[])
  }
  const dict = value instanceof PickleObject && value.className === 'collections.OrderedDict' ? value.entries : value
  if (!(dict instanceof PickleDict)) return undefined
  const object = Object.create(null) as Record<string, JsonValue>
  for (const [key, item] of dict.entries()) {
    const json = plainJson(item, depth + 1)
    if (json === undefined) return undefined
    object[keyText(key)] = json
  }
  return object
}
