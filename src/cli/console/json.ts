import { escapeJson } from './escape.js'

/** A list whose items are made while it is printed. It must be a direct member of the printed object. */
export class JsonList {
  readonly count: number
  readonly item: (i: number) => unknown

  constructor(count: number, item: (i: number) => unknown) {
    this.count = count
    this.item = item
  }
}

const longList = 1024
const pieceSize = 65_536

/** The same line in pieces, since it may be longer than a string can be: long lists in the object come item by item. */
export function* jsonPieces(value: unknown): Generator<string> {
  const isObject = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  const entries = isObject ? Object.entries(value) : []
  if (!entries.some(([, member]) => isLong(member))) {
    yield toJsonLine(value)
    return
  }
  let lead = '{'
  for (const [key, member] of entries) {
    if (isLong(member)) {
      yield `${lead}${encode(key)}:[`
      yield* itemPieces(member instanceof JsonList ? member : new JsonList(member.length, (i) => member[i]))
      yield ']'
    } else {
      const text = encode(member)
      if (text === undefined) continue
      yield `${lead}${encode(key)}:${text}`
    }
    lead = ','
  }
  yield lead === '{' ? '{}\n' : '}\n'
}

const isLong = (value: unknown): value is JsonList | readonly unknown[] =>
  value instanceof JsonList || (Array.isArray(value) && value.length > longList)

/** How many items are encoded together, which is faster than one by one. */
const itemsAtOnce = 16

function* itemPieces({ count, item }: JsonList): Generator<string> {
  let piece = ''
  for (let first = 0; first < count; first += itemsAtOnce) {
    const items = Array.from({ length: Math.min(itemsAtOnce, count - first) }, (_, i) => item(first + i))
    piece += `${first > 0 ? ',' : ''}${encode(items)!.slice(1, -1)}`
    if (piece.length < pieceSize) continue
    yield piece
    piece = ''
  }
  yield piece
}

/** Without the replacer function `JSON.stringify` is several times as fast, and most values do not need it. */
function encode(value: unknown): string | undefined {
  const text = (isPlain(value) ? JSON.stringify(value) : JSON.stringify(value, portable)) as string | undefined
  return text === undefined ? undefined : escapeJson(text)
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value !== 'bigint'
  if (value === null) return true
  if (Array.isArray(value)) return value.every(isPlain)
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  for (const key in value) if (!isPlain((value as Readonly<Record<string, unknown>>)[key])) return false
  return true
}

/** One line of JSON. Integers beyond 2^53-1 are decimal strings; so are NaN and the infinities, which JSON does not have. */
export function toJsonLine(value: unknown): string {
  return `${encode(value)}\n`
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
