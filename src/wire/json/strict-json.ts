// Strict JSON as plain data, for documents whose fields are checked one by one: a key that occurs twice and deep nesting are refused, and
// `__proto__` is a key like any other.
import { strictReport } from '../../errors/index.js'
import { type JsonNode, parseJson } from './json.js'

/** Throws a finding of JSON, with its offset. Integers that a double cannot hold become the nearest double. */
export const strictJson = (bytes: Uint8Array, file: string): unknown => plain(parseJson(bytes, strictReport(file)))

function plain(node: JsonNode): unknown {
  if (node instanceof Map) return Object.fromEntries(Array.from(node, ([key, value]) => [key, plain(value)]))
  if (Array.isArray(node)) return node.map(plain)
  return typeof node === 'bigint' ? Number(node) : node
}
