// Metadata that OINF has no type for. Each is kept as an array under a key of its own, so that any OINF reader can open the file, and
// comes back as what it was:
//
//   tare.oinf.text.KEY   text that a string cannot hold (blanks, JSON, other scripts, nothing at all): its UTF-8 bytes as u8
//   tare.oinf.bytes.KEY  raw bytes, as u8
//   tare.oinf.list.KEY   a list of numbers or booleans, as an array of their type
//   tare.oinf.value.KEY  everything else (null, JSON, lists of text or of lists), as the UTF-8 bytes of a JSON text
//
// Only what this file would have written is restored; anything else under such a key stays an array.
import { compareBytes, decodeUtf8, encodeUtf8, toHex } from '../../bytes/index.js'
import { bool, type DType, dtypeById, u8 } from '../../dtypes/index.js'
import { type JsonValue, listOf, type MetaList, type MetaValue } from '../../model/index.js'
import { escapeKey, reservedPrefix, unescapeKey } from './names.js'
import { readScalar, type ScalarValue, scalarSize, writeScalar } from './scalars.js'
import { isPlainText } from './strings.js'
import { isPacked, tagByDType } from './types.js'

type Kind = 'text' | 'bytes' | 'list' | 'value'
type ArrayValue = Extract<MetaValue, { type: 'ndarray' }>

export interface Stowed {
  readonly key: string
  readonly value: ArrayValue
}

/** The key and array that stand for a value, or undefined when OINF holds it as it is. */
export function stow(key: string, value: MetaValue): Stowed | undefined {
  const put = (kind: Kind, array: ArrayValue): Stowed => ({
    key: `${reservedPrefix}${kind}.${escapeKey(key)}`,
    value: array,
  })
  if (value.type === 'str' && !value.bytes)
    return isPlainText(value.value) ? undefined : put('text', octets(encodeUtf8(value.value)))
  if (value.type === 'bytes') return put('bytes', octets(value.value))
  if (value.type === 'array') {
    const list = packList(value)
    return list ? put('list', list) : put('value', octets(encodeUtf8(JSON.stringify(toJson(value)))))
  }
  if (value.type === 'null' || value.type === 'json' || value.type === 'str')
    return put('value', octets(encodeUtf8(JSON.stringify(toJson(value)))))
  return undefined
}

const octets = (value: Uint8Array): ArrayValue => ({ type: 'ndarray', dtype: u8, shape: [value.byteLength], value })

/** What a stored entry stands for, or undefined when it is an entry like any other. */
export function unstow(key: string, value: MetaValue): { key: string; value: MetaValue } | undefined {
  if (!key.startsWith(reservedPrefix) || value.type !== 'ndarray' || value.shape.length !== 1) return undefined
  const [, kind, rest] = /^(text|bytes|list|value)\.(.+)$/.exec(key.slice(reservedPrefix.length)) ?? []
  if (kind === undefined) return undefined
  const original = unescapeKey(rest!)
  if (escapeKey(original) !== rest) return undefined
  try {
    const restored = restore(kind as Kind, value)
    // A list is checked by its type alone; its items stay undecoded until somebody asks.
    const isSame = kind === 'list' || (restored && isArray(stow(original, restored), key, value))
    return restored && isSame ? { key: original, value: restored } : undefined
  } catch {
    return undefined // the JSON is not what this file writes
  }
}

const isArray = (stowed: Stowed | undefined, key: string, { dtype, value }: ArrayValue): boolean =>
  stowed?.key === key && stowed.value.dtype === dtype && compareBytes(stowed.value.value, value) === 0

function restore(kind: Kind, { dtype, value }: ArrayValue): MetaValue | undefined {
  if (kind === 'list') return unpackList(dtype, value)
  if (dtype !== u8) return undefined
  if (kind === 'bytes') return { type: 'bytes', value }
  const text = decodeUtf8(value)
  if (text === undefined) return undefined
  if (kind === 'text') return { type: 'str', value: text }
  return fromJson(JSON.parse(text) as Json)
}

/** The numeric types whose elements take whole bytes. */
const listType = (item: string): DType | undefined => {
  const dtype = tagByDType.has(item) && item !== 'bitset' ? dtypeById(item) : undefined
  return dtype && !isPacked(dtype) ? dtype : undefined
}

function packList(list: MetaList): ArrayValue | undefined {
  const dtype = listType(list.item)
  if (!dtype) return undefined
  const size = scalarSize(dtype)
  const value = new Uint8Array(size * list.length)
  for (const [i, item] of list.values().entries()) {
    const bytes = item.type === list.item ? writeScalar(dtype, item as ScalarValue) : undefined
    if (!bytes) return undefined
    value.set(bytes, i * size)
  }
  return { type: 'ndarray', dtype, shape: [list.length], value }
}

function unpackList(dtype: DType, bytes: Uint8Array): MetaValue | undefined {
  const size = scalarSize(dtype)
  if (isPacked(dtype) || (dtype === bool && bytes.some((byte) => byte > 1))) return undefined
  const length = bytes.byteLength / size
  const values = (): MetaValue[] =>
    Array.from({ length }, (_, i) => readScalar(dtype, bytes.subarray(i * size, (i + 1) * size)))
  return { type: 'array', item: dtype.id as MetaList['item'], length, values }
}

type Json = readonly [type: string, ...rest: JsonValue[]]

/** A value with its type, as JSON: [type, content…]. Bytes are hex; numbers that JSON has no form for are text. */
function toJson(value: MetaValue): Json {
  switch (value.type) {
    case 'null':
      return ['null']
    case 'str':
      return value.bytes ? ['str-bytes', toHex(value.bytes)] : ['str', value.value]
    case 'json':
    case 'bool':
      return [value.type, value.value]
    case 'bytes':
      return ['bytes', toHex(value.value)]
    case 'bitset':
      return ['bitset', value.bits, toHex(value.value)]
    case 'ndarray':
      return ['ndarray', value.dtype.id, value.shape, toHex(value.value)]
    case 'array': {
      const items = value.values()
      const isText = value.item === 'str' && items.every((item) => item.type === 'str' && !item.bytes)
      return isText
        ? ['strings', items.map((item) => (item as { value: string }).value)]
        : ['array', value.item, items.map(toJson)]
    }
    default: {
      if ('bits' in value && value.bits !== undefined && Number.isNaN(value.value))
        return [value.type, `bits:${value.bits.toString(16)}`]
      const isPlain = typeof value.value === 'number' && Number.isFinite(value.value) && !Object.is(value.value, -0)
      return [value.type, isPlain ? Number(value.value) : Object.is(value.value, -0) ? '-0' : String(value.value)]
    }
  }
}

function fromJson([type, first, second, third]: Json): MetaValue | undefined {
  switch (type) {
    case 'null':
      return { type }
    case 'str':
      return { type, value: String(first) }
    case 'str-bytes': {
      const bytes = fromHex(first)
      return { type: 'str', value: new TextDecoder().decode(bytes), bytes }
    }
    case 'json':
      return { type, value: first! }
    case 'bool':
      return { type, value: first === true }
    case 'bytes':
      return { type, value: fromHex(first) }
    case 'bitset':
      return { type, bits: Number(first), value: fromHex(second) }
    case 'ndarray':
      return { type, dtype: dtypeById(String(first))!, shape: second as number[], value: fromHex(third) }
    case 'strings':
      return listOf(
        'str',
        (first as string[]).map((item): MetaValue => ({ type: 'str', value: item })),
      )
    case 'array':
      return listOf(
        first as MetaList['item'],
        (second as unknown as Json[]).map((item) => fromJson(item)!),
      )
    default:
      return fromNumber(type, first)
  }
}

function fromNumber(type: string, content: JsonValue | undefined): MetaValue | undefined {
  if (!tagByDType.has(type)) return undefined
  if (typeof content === 'number') return { type, value: content } as MetaValue
  const text = String(content)
  if (text.startsWith('bits:')) return { type, value: Number.NaN, bits: BigInt(`0x${text.slice(5)}`) } as MetaValue
  const isFloat = dtypeById(type)!.kind === 'float'
  return { type, value: isFloat ? Number(text) : BigInt(text) } as MetaValue
}

function fromHex(hex: JsonValue | undefined): Uint8Array {
  const text = String(hex)
  return Uint8Array.from({ length: text.length / 2 }, (_, i) => Number.parseInt(text.slice(2 * i, 2 * i + 2), 16))
}
