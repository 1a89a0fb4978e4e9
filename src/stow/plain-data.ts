// The content of parts as JSON: maps, bytes, big integers and numbers that JSON cannot express become objects with one key that starts with
// "$". Functions and class instances have no such form.
import { fromHex, toHex } from '../bytes/index.js'
import type { JsonValue } from '../model/index.js'

/** Undefined if something in the value has no JSON form. */
export function toPlainData(value: unknown): JsonValue | undefined {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'number') return plainNumber(value)
  if (typeof value === 'bigint') return { $int: value.toString() }
  if (value instanceof Uint8Array) return { $bytes: toHex(value) }
  if (Array.isArray(value)) return allOf(value.map(toPlainData))
  if (value instanceof Map) {
    const pairs = allOf([...value].map(([key, item]) => allOf([toPlainData(key), toPlainData(item)])))
    return pairs && { $map: pairs }
  }
  if (typeof value !== 'object' || !isPlainObject(value)) return undefined
  const object = Object.create(null) as Record<string, JsonValue>
  for (const [key, item] of Object.entries(value)) {
    const plain = item === undefined ? undefined : toPlainData(item)
    if (key.startsWith('$') || (plain === undefined && item !== undefined)) return undefined
    if (plain !== undefined) object[key] = plain
  }
  return object
}

const plainNumber = (value: number): JsonValue =>
  Number.isFinite(value) && !Object.is(value, -0) ? value : { $number: Object.is(value, -0) ? '-0' : String(value) }

const isPlainObject = (value: object): boolean =>
  [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)

const allOf = (items: readonly (JsonValue | undefined)[]): JsonValue[] | undefined =>
  items.includes(undefined) ? undefined : (items as JsonValue[])

/** Accepts any JSON; the caller checks that the result is what it should be. */
export function fromPlainData(json: JsonValue): unknown {
  if (typeof json !== 'object' || json === null) return json
  if (Array.isArray(json)) return json.map(fromPlainData)
  const [[tag, content] = [], ...more] = Object.entries(json) as [string, JsonValue][]
  if (more.length === 0 && tag === '$int' && typeof content === 'string' && /^-?\d+$/.test(content))
    return BigInt(content)
  if (more.length === 0 && tag === '$bytes' && typeof content === 'string') return fromHex(content)
  if (more.length === 0 && tag === '$number' && typeof content === 'string') return Number(content)
  if (more.length === 0 && tag === '$map' && Array.isArray(content))
    return new Map(content.filter(Array.isArray).map(([key, item]) => [fromPlainData(key), fromPlainData(item)]))
  const object = Object.create(null) as Record<string, unknown>
  for (const [key, item] of Object.entries(json)) object[key] = fromPlainData(item as JsonValue)
  return object
}
