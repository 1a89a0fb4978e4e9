// Reads a description, or the data that fills one, from JSON text. Duplicate keys are errors. Objects become Maps, so that `__proto__` is
// an ordinary key; integers beyond 2^53-1 become bigints; 1.0 stays a float.
import { jsonCodes, strictReport } from '../errors/index.js'
import { memberPath } from '../wire/json/json.js'
import { JsonScanner } from '../wire/json/scanner.js'
import { packCodes } from './codes.js'
import { Float } from './float.js'

/** Parsed JSON or YAML. */
export type Node = null | boolean | number | bigint | string | Float | Node[] | Map<string, Node>

const maxDepth = 128

/** Parses the JSON of a description; numbers keep the type that they are written with. */
export function parseDescription(bytes: Uint8Array, name: string): Node {
  const scanner = new JsonScanner(bytes, strictReport(name), 0, maxDepth)
  const value = readNode(scanner, '')
  scanner.end('')
  return value
}

// Recursion is safe: the scanner stops at its depth limit.
function readNode(scanner: JsonScanner, path: string): Node {
  const kind = scanner.peek(path)
  if (kind === 'number') return readNumber(scanner, path)
  if (kind === 'string') return scanner.string(path)
  if (kind === 'object') return readObject(scanner, path)
  if (kind === 'array') return readArray(scanner, path)
  scanner.literal(kind, path)
  return kind === 'null' ? null : kind === 'true'
}

function readNumber(scanner: JsonScanner, path: string): number | bigint | Float {
  const token = scanner.number(path)
  const value = Number(token)
  if (!Number.isFinite(value) && !isInteger(token))
    scanner.fail(packCodes['value-range'], scanner.index - token.length, path, `${token} is beyond every float`)
  if (!isInteger(token)) return Number.isInteger(value) ? new Float(value) : value
  return Number.isSafeInteger(value) ? value : BigInt(token)
}

const isInteger = (token: string): boolean => /^-?[0-9]+$/.test(token)

function readObject(scanner: JsonScanner, path: string): Map<string, Node> {
  const object = new Map<string, Node>()
  scanner.beginObject(path)
  for (;;) {
    const at = scanner.index
    const key = scanner.nextKey(path)
    if (key === undefined) return object
    const inside = memberPath(path, key)
    if (object.has(key))
      scanner.fail(jsonCodes['duplicate-key'], at, inside, `${JSON.stringify(key)} occurs twice in one object`)
    object.set(key, readNode(scanner, inside))
  }
}

function readArray(scanner: JsonScanner, path: string): Node[] {
  const items: Node[] = []
  scanner.beginArray(path)
  while (scanner.nextItem(path)) items.push(readNode(scanner, path))
  return unwrapFloats(items)
}

/** One float makes a list of floats, so only one item of a long list needs the mark. */
export function unwrapFloats(items: Node[]): Node[] {
  const hasPlain = items.some((each) => typeof each === 'number' && !Number.isInteger(each))
  let isMarked = hasPlain
  for (let i = 0; i < items.length; i++) {
    const each = items[i]!
    if (!(each instanceof Float)) continue
    if (isMarked) items[i] = each.value
    isMarked = true
  }
  return items
}

/** The same as plain objects, for user code, where the difference between 1.0 and 1 does not matter. */
export function toPlain(node: Node): unknown {
  if (node instanceof Float) return node.value
  if (Array.isArray(node)) return node.map(toPlain)
  if (!(node instanceof Map)) return node
  return Object.fromEntries([...node].map(([key, value]) => [key, toPlain(value)]))
}
