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

function* itemPieces(list: JsonList): Generator<string> {
  const progress = { next: 0 }
  while (progress.next < list.count) yield itemsFrom(list, progress)
}

/** As many items as make a piece. A plain function, because a generator that yields each item is slower. */
function itemsFrom({ count, item }: JsonList, progress: { next: number }): string {
  let piece = ''
  while (progress.next < count && piece.length < pieceSize) {
    const value = item(progress.next)
    if (progress.next > 0) piece += ','
    piece += plainJson(value) ?? escapeJson(JSON.stringify(value, portable) ?? 'null')
    progress.next++
  }
  return piece
}

/** The keys of the last object, each with the text before its value; objects of a list mostly have the same ones. */
const lastKeys: string[] = []
const lastLeads: string[] = []
/** The last list of numbers; neighbouring objects often share it. */
let lastList: readonly unknown[] | undefined
let lastListText = ''

/** An object of strings, numbers and lists of numbers, several times as fast as `JSON.stringify`. Undefined for all others. */
function plainJson(item: unknown): string | undefined {
  if (typeof item !== 'object' || item === null || Object.getPrototypeOf(item) !== Object.prototype) return undefined
  let text = ''
  let place = 0
  for (const key in item) {
    if (lastKeys[place] !== key) {
      const name = quoted(key)
      if (name === undefined) return undefined
      lastKeys[place] = key
      lastLeads[place] = `${place === 0 ? '{' : ','}${name}:`
    }
    const encoded = plainValue((item as Readonly<Record<string, unknown>>)[key])
    if (encoded === undefined) return undefined
    text += lastLeads[place]! + encoded
    place++
  }
  return place === 0 ? '{}' : `${text}}`
}

function plainValue(value: unknown): string | undefined {
  if (typeof value === 'string') return quoted(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined
  if (value === null || typeof value === 'boolean') return String(value)
  if (!Array.isArray(value)) return undefined
  if (value !== lastList) {
    if (!value.every(Number.isFinite)) return undefined
    lastList = value
    lastListText = `[${value.join(',')}]`
  }
  return lastListText
}

/** Strings that need no escape in JSON. */
const plainText = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/
/** Keys and the names of types repeat. */
const short = new Map<string, string>()

function quoted(text: string): string | undefined {
  const known = text.length < 12 ? short.get(text) : undefined
  if (known !== undefined) return known
  if (!plainText.test(text)) return undefined
  const result = `"${text}"`
  if (text.length < 12 && short.size < 256) short.set(text, result)
  return result
}

const encode = (value: unknown): string | undefined => {
  const text = JSON.stringify(value, portable) as string | undefined
  return text === undefined ? undefined : escapeJson(text)
}

/** One line of JSON. Integers beyond 2^53-1 are decimal strings; so are NaN and the infinities, which JSON does not have. */
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
