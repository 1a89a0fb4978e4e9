import type { JsonValue } from '../model/metadata.js'
import type { JsonNode } from '../wire/index.js'

/** A parsed tree as plain data. `ofLarge` converts numbers that a double cannot hold: integers, and what came out as an infinity. */
export function toPlainJson(node: JsonNode, ofLarge: (value: bigint | number) => JsonValue): JsonValue {
  if (node instanceof Map) {
    const object = Object.create(null) as Record<string, JsonValue>
    for (const [key, value] of node) object[key] = toPlainJson(value, ofLarge)
    return object
  }
  if (Array.isArray(node)) return node.map((item) => toPlainJson(item, ofLarge))
  const isLarge = typeof node === 'bigint' || (typeof node === 'number' && !Number.isFinite(node))
  return isLarge ? ofLarge(node) : node
}
