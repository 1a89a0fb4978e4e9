// Plain values of a checkpoint as metadata: numbers, texts, lists of them, and the few objects that are nothing more.
import { type JsonValue, listOf, type MetaValue, text } from '../../../model/index.js'
import { PickleDict, PickleGlobal, PickleList, PickleObject, type PickleValue } from '../../../wire/pickle/pickle.js'
import { encodeLoosely } from '../../../wire/pickle/text.js'
import { numpyScalar } from './numpy.js'
import { firstArgument } from './rebuild.js'

const lowest64 = -(2n ** 63n)
const limit64 = 2n ** 63n
const limitU64 = 2n ** 64n

const byteMakers = new Set([
  '_codecs.encode',
  '__builtin__.bytearray',
  'builtins.bytearray',
  '__builtin__.bytes',
  'builtins.bytes',
])

/**
 * A pickle can use one long text or list a million times for two bytes each, so what is made of them is made once and kept.
 */
export class PlainValues {
  readonly #lists = new Map<PickleList, MetaValue | undefined>()
  readonly #texts = new Map<string, MetaValue>()
  readonly #bytes = new Map<string, Uint8Array>()

  /** The value of something that needs no names for its parts, or undefined. */
  of(value: PickleValue): MetaValue | undefined {
    if (value === null) return { type: 'null' }
    if (typeof value === 'boolean') return { type: 'bool', value }
    if (typeof value === 'number') return { type: 'f64', value }
    if (typeof value === 'bigint') return integer(value)
    if (typeof value === 'string') return this.#text(value)
    if (value instanceof Uint8Array) return { type: 'bytes', value }
    if (value instanceof PickleGlobal) return text(value.fullName)
    if (value instanceof PickleList) return this.#list(value)
    return value instanceof PickleObject ? this.#object(value) : undefined
  }

  #text(value: string): MetaValue {
    const known = this.#texts.get(value)
    if (known) return known
    const shown = value.toWellFormed()
    const made: MetaValue = shown === value ? text(value) : { type: 'str', value: shown, bytes: encodeLoosely(value) }
    this.#texts.set(value, made)
    return made
  }

  /** A list of scalars is one value. */
  #list(list: PickleList): MetaValue | undefined {
    if (!this.#lists.has(list)) this.#lists.set(list, this.#makeList(list.items))
    return this.#lists.get(list)
  }

  #makeList(items: readonly PickleValue[]): MetaValue | undefined {
    if (items.length === 0) return { type: 'json', value: [] }
    if (!items.every(isScalar)) return undefined
    const values = items.map((item) => this.of(item)!)
    const [first] = values
    return listOf(values.every((value) => value.type === first!.type) ? first!.type : 'mixed', values)
  }

  #object(object: PickleObject): MetaValue | undefined {
    const [first, second] = object.args instanceof PickleList ? object.args.items : []
    switch (object.className) {
      case 'torch.Size':
      case 'collections.deque':
      case '__builtin__.set':
      case 'builtins.set':
      case '__builtin__.frozenset':
      case 'builtins.frozenset':
        return first instanceof PickleList ? this.#list(first) : this.#makeList(object.items)
      case 'torch.device':
        return typeof first === 'string' ? text(typeof second === 'bigint' ? `${first}:${second}` : first) : undefined
      case 'torch.serialization._get_layout':
        return typeof first === 'string' ? text(first) : undefined
      case '__builtin__.complex':
      case 'builtins.complex':
        return typeof first === 'number' && typeof second === 'number' ? text(`(${first}, ${second})`) : undefined
      default:
        return byteMakers.has(object.className ?? '')
          ? this.#wrappedBytes(object)
          : numpyScalar(object, (value) => this.bytesOf(value))
    }
  }

  #wrappedBytes(object: PickleObject): MetaValue | undefined {
    const bytes = this.bytesOf(object)
    return bytes && { type: 'bytes', value: bytes }
  }

  /** Bytes are spelled as Latin-1 text in protocol 2: bytearray(encode("abc", "latin1")). */
  bytesOf(given: PickleValue): Uint8Array | undefined {
    let value: PickleValue | undefined = given
    for (let depth = 0; value instanceof PickleObject && depth < 2; depth++) {
      if (!byteMakers.has(value.className ?? '')) return undefined
      value = firstArgument(value)
    }
    if (value === undefined) return new Uint8Array()
    if (value instanceof Uint8Array) return value
    if (typeof value !== 'string' || value === given) return undefined
    const bytes = this.#bytes.get(value) ?? Uint8Array.from(value, (character) => character.charCodeAt(0))
    this.#bytes.set(value, bytes)
    return bytes
  }
}

function integer(value: bigint): MetaValue {
  const fits = value >= lowest64 && value < limitU64
  if (!fits) return text(value.toString()) // Python's integers have no limit; types that could hold this one do not exist
  const isSafe = value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
  return { type: value < limit64 ? 'i64' : 'u64', value: isSafe ? Number(value) : value }
}

const isScalar = (value: PickleValue): boolean =>
  value === null || (typeof value !== 'object' && typeof value !== 'function')

/** How a key stands in a name. */
export function keyText(key: PickleValue): string {
  if (typeof key === 'string') return key.toWellFormed()
  if (key === null) return 'None'
  if (typeof key === 'boolean') return key ? 'True' : 'False'
  if (typeof key === 'bigint' || typeof key === 'number') return String(key)
  if (key instanceof PickleGlobal) return key.fullName
  if (!(key instanceof PickleList)) return 'object'
  const parts = key.items.slice(0, 16).map((item) => (item instanceof PickleList ? '…' : keyText(item)))
  return `(${parts.join(', ')})`
}

/** How many levels, and values, one piece of JSON may have. */
const maxJson = { levels: 16, values: 100_000 }

/** A small tree of plain values as JSON, or undefined when it is not small or there is anything else in it. */
export function plainJson(value: PickleValue): JsonValue | undefined {
  let count = 0
  const convert = (part: PickleValue, level: number): JsonValue | undefined => {
    if (level > maxJson.levels || ++count > maxJson.values) return undefined
    if (part === null || typeof part === 'boolean') return part
    if (typeof part === 'string') return part.toWellFormed()
    if (typeof part === 'number') return Number.isFinite(part) ? part : String(part)
    if (typeof part === 'bigint') return Number.isSafeInteger(Number(part)) ? Number(part) : part.toString()
    if (part instanceof PickleList) {
      const items: JsonValue[] = []
      for (const item of part.items) {
        const json = convert(item, level + 1)
        if (json === undefined) return undefined
        items.push(json)
      }
      return items
    }
    const dict = part instanceof PickleObject && part.className === 'collections.OrderedDict' ? part.entries : part
    if (!(dict instanceof PickleDict)) return undefined
    const object = Object.create(null) as Record<string, JsonValue>
    for (const [key, item] of dict.entries()) {
      const json = convert(item, level + 1)
      if (json === undefined) return undefined
      object[keyText(key)] = json
    }
    return object
  }
  return convert(value, 0)
}
