import { escapeJson } from './escape-name.js'

/** One line of JSON. Integers beyond 2^53-1 are decimal strings, NaN and the infinities are strings too: JSON has no place for them. */
export function toJsonLine(value: unknown): string {
  return `${escapeJson(JSON.stringify(value, portable))}\n`
}

function portable(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') {
    return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value.toString()
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (value instanceof Map) return fromEntries(value)
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as Iterable<unknown>)
  return value
}

/** Without a prototype, so that `__proto__` is a key like any other. */
function fromEntries(map: ReadonlyMap<unknown, unknown>): Record<string, unknown> {
  const result = Object.create(null) as Record<string, unknown>
  for (const [key, value] of map) result[String(key)] = value
  return result
}
