// Metadata as plain values of Python, where reading gives the same value with the same type again.
import type { JsonValue, MetaValue } from '../../../model/index.js'
import { PickleDict, PickleList, type PickleValue } from '../../../wire/pickle/pickle.js'

const limit64 = 2n ** 63n

/** Undefined when Python's own types cannot say it. */
export function plainNode(value: MetaValue): PickleValue | undefined {
  switch (value.type) {
    case 'null':
      return null
    case 'bool':
      return value.value
    case 'i64':
    case 'u64': {
      const number = BigInt(value.value)
      return number < limit64 === (value.type === 'i64') ? number : undefined
    }
    case 'f64':
      return value.bits === undefined ? value.value : undefined
    case 'str':
      return value.bytes ? undefined : value.value
    case 'bytes':
      return value.value
    case 'array':
      return listNode(value.item, value.values())
    case 'json':
      return isEmpty(value.value) ? jsonNode(value.value) : undefined
    default:
      return undefined
  }
}

/** Other lists and objects are read as an entry for each of their values. */
const isEmpty = (value: JsonValue): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0

const scalars: ReadonlySet<string> = new Set(['null', 'bool', 'i64', 'u64', 'f64', 'str'])

function listNode(item: string, values: readonly MetaValue[]): PickleValue | undefined {
  const types = new Set(values.map(({ type }) => type))
  const isAsRead = types.size > 0 && (types.size === 1 ? types.has(item as MetaValue['type']) : item === 'mixed')
  if (!isAsRead || ![...types].every((type) => scalars.has(type))) return undefined
  const items = values.map(plainNode)
  return items.includes(undefined) ? undefined : new PickleList('list', items as PickleValue[])
}

/** A tree of plain values, as the attributes of a dictionary hold it. */
export function jsonNode(value: JsonValue): PickleValue {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return new PickleList('list', value.map(jsonNode))
  const dict = new PickleDict()
  for (const [key, item] of Object.entries(value)) dict.set(key, jsonNode(item))
  return dict
}
