// A metadata value with its type, as JSON: [type, content…]. Bytes are hex; numbers that JSON cannot express are text. Every value is
// restored exactly, including the bits of a NaN.
import { fromHex, toHex } from '../bytes/index.js'
import { type DType, dtypeById } from '../dtypes/index.js'
import { type JsonValue, listOf, type MetaList, type MetaValue } from '../model/metadata.js'
import { type Dim, shapeOfShown, shownDims } from '../model/model.js'

export type TypedJson = readonly [type: string, ...content: JsonValue[]]

export function toTypedJson(value: MetaValue): TypedJson {
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
      return ['ndarray', value.dtype.id, shownDims(value), toHex(value.value)]
    case 'array': {
      const items = value.values()
      const isText = value.item === 'str' && items.every((item) => item.type === 'str' && !item.bytes)
      return isText
        ? ['strings', items.map((item) => (item as { value: string }).value)]
        : ['array', value.item, items.map(toTypedJson)]
    }
    default: {
      if ('bits' in value && value.bits !== undefined && Number.isNaN(value.value))
        return [value.type, `bits:${value.bits.toString(16)}`]
      const isPlain = typeof value.value === 'number' && Number.isFinite(value.value) && !Object.is(value.value, -0)
      return [value.type, isPlain ? Number(value.value) : Object.is(value.value, -0) ? '-0' : String(value.value)]
    }
  }
}

/** The value, or undefined if the JSON was not made by `toTypedJson`. */
export function fromTypedJson(json: JsonValue): MetaValue | undefined {
  try {
    const value = parse(json as TypedJson)
    return value && isSame(toTypedJson(value), json) ? value : undefined
  } catch {
    return undefined // some value inside has the wrong type
  }
}

function parse([type, first, second, third]: TypedJson): MetaValue | undefined {
  switch (type) {
    case 'null':
      return { type }
    case 'str':
      return { type, value: String(first) }
    case 'str-bytes': {
      const bytes = fromHex(String(first))
      return { type: 'str', value: new TextDecoder().decode(bytes), bytes }
    }
    case 'json':
      return { type, value: first! }
    case 'bool':
      return { type, value: first === true }
    case 'bytes':
      return { type, value: fromHex(String(first)) }
    case 'bitset':
      return { type, bits: Number(first), value: fromHex(String(second)) }
    case 'ndarray':
      return {
        type,
        dtype: dtypeById(String(first))!,
        ...shapeOfShown(second as Dim[]),
        value: fromHex(String(third)),
      }
    case 'strings':
      if (!(first as unknown[]).every((item) => typeof item === 'string')) return undefined
      return listOf(
        'str',
        (first as string[]).map((item): MetaValue => ({ type: 'str', value: item })),
      )
    case 'array':
      return listOf(
        first as MetaList['item'],
        (second as unknown as TypedJson[]).map((item) => parse(item)!),
      )
    default:
      return parseNumber(type, first)
  }
}

function parseNumber(type: string, content: JsonValue | undefined): MetaValue | undefined {
  const dtype = dtypeById(type)
  if (!dtype || !isNumber(dtype)) return undefined
  if (typeof content === 'number') return { type, value: content } as MetaValue
  const text = String(content)
  if (text.startsWith('bits:')) return { type, value: Number.NaN, bits: BigInt(`0x${text.slice(5)}`) } as MetaValue
  return { type, value: dtype.kind === 'float' ? Number(text) : BigInt(text) } as MetaValue
}

const isNumber = ({ kind }: DType): boolean => kind === 'float' || kind === 'int' || kind === 'uint'

function isSame(a: JsonValue, b: JsonValue): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
