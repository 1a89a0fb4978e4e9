// Strict JSON as a tree, for the small documents beside and inside models. Objects become Maps, so no key can reach a prototype, and a
// key that appears twice is an error. Integers that a double cannot hold exactly come as bigints.
import { jsonCodes, type Report } from '../../errors/index.js'
import { JsonScanner } from './scanner.js'

export type JsonNode = null | boolean | number | bigint | string | JsonNode[] | JsonObject
export type JsonObject = Map<string, JsonNode>

export function parseJson(
  bytes: Uint8Array,
  report: Report,
  options: { base?: number; path?: string; maxDepth?: number } = {},
): JsonNode {
  const scanner = new JsonScanner(bytes, report, options.base ?? 0, options.maxDepth ?? 64)
  const path = options.path ?? ''
  const value = readValue(scanner, path)
  scanner.end(path)
  return value
}

// Recursion is safe: the scanner stops at its depth limit.
function readValue(scanner: JsonScanner, path: string): JsonNode {
  const kind = scanner.peek(path)
  if (kind === 'string') return scanner.string(path)
  if (kind === 'number') return toNumber(scanner.number(path))
  if (kind === 'object') return readObject(scanner, path)
  if (kind === 'array') {
    const items: JsonNode[] = []
    scanner.beginArray(path)
    while (scanner.nextItem(path)) items.push(readValue(scanner, `${path}[${items.length}]`))
    return items
  }
  scanner.literal(kind, path)
  return kind === 'null' ? null : kind === 'true'
}

function readObject(scanner: JsonScanner, path: string): JsonObject {
  const object: JsonObject = new Map()
  scanner.beginObject(path)
  for (;;) {
    const at = scanner.index
    const key = scanner.nextKey(path)
    if (key === undefined) return object
    const inside = memberPath(path, key)
    if (object.has(key))
      scanner.fail(jsonCodes['duplicate-key'], at, inside, `${JSON.stringify(key)} appears twice in one object`)
    object.set(key, readValue(scanner, inside))
  }
}

/** `a.b` for names that read well, `a["x y"]` for others. */
export function memberPath(path: string, key: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(key)) return path === '' ? key : `${path}.${key}`
  return `${path}[${JSON.stringify(key)}]`
}

function toNumber(token: string): number | bigint {
  const value = Number(token)
  if (Number.isSafeInteger(value) || !/^-?[0-9]+$/.test(token)) return value
  return BigInt(token)
}

/** A value in a message: itself when it is short, its kind when it is long. */
export function describeJson(node: JsonNode): string {
  if (typeof node === 'string') return JSON.stringify(node.length > maxShown ? `${node.slice(0, maxShown)}…` : node)
  if (Array.isArray(node)) return node.length === 0 ? 'an empty list' : 'a list'
  return node instanceof Map ? 'an object' : String(node)
}

const maxShown = 40

/** The text of a value, laid out like `JSON.stringify(value, null, 2)`; integers keep all their digits. */
export function printJson(node: JsonNode, margin = ''): string {
  const isList = Array.isArray(node)
  if (!isList && !(node instanceof Map)) return typeof node === 'bigint' ? String(node) : JSON.stringify(node)
  const inner = `${margin}  `
  const items = isList
    ? node.map((item) => printJson(item, inner))
    : Array.from(node, ([key, value]) => `${JSON.stringify(key)}: ${printJson(value, inner)}`)
  const [open, close] = isList ? '[]' : '{}'
  return items.length === 0 ? `${open}${close}` : `${open}\n${inner}${items.join(`,\n${inner}`)}\n${margin}${close}`
}
