// Metadata that OINF has no type for. Each is kept as an array under a key of its own, so that any OINF reader can open the file, and
// comes back as what it was:
//
//   tare.oinf.text.KEY   text that a string cannot hold (blanks, JSON, other scripts, nothing at all): its UTF-8 bytes as u8
//   tare.oinf.bytes.KEY  raw bytes, as u8
//   tare.oinf.list.KEY   a list of numbers or booleans, as an array of their type
//   tare.oinf.value.KEY  everything else (null, JSON, lists of text or of lists), as the UTF-8 bytes of a JSON text
//
// Only what this file would have written is restored; anything else under such a key stays an array.
import { compareBytes, decodeUtf8, encodeUtf8 } from '../../../bytes/index.js'
import { fromTypedJson, toTypedJson } from '../../../content/typed-json.js'
import { bool, type DType, dtypeById, u8 } from '../../../dtypes/index.js'
import type { JsonValue, MetaList, MetaValue } from '../../../model/index.js'
import { escapeKey, reservedPrefix, unescapeKey } from '../names.js'
import { isPlainText } from '../strings.js'
import { isPacked, tagByDType } from '../types.js'
import { readScalar, type ScalarValue, scalarSize, writeScalar } from './scalars.js'

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
    return list ? put('list', list) : put('value', octets(encodeUtf8(JSON.stringify(toTypedJson(value)))))
  }
  if (value.type === 'null' || value.type === 'json' || value.type === 'str')
    return put('value', octets(encodeUtf8(JSON.stringify(toTypedJson(value)))))
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
    // A list is checked by its type alone; its items are decoded when they are asked for.
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
  return fromTypedJson(JSON.parse(text) as JsonValue)
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
