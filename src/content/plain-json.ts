import type { JsonValue } from '../model/metadata.js'
import type { JsonNode } from '../wire/index.js'

/** A parsed tree as plain data. `ofLarge` converts integers that a double cannot hold. */
export function toPlainJson(node: JsonNode, ofLarge: (value: bigint) => JsonValue): JsonValue {
  if (node instanceof Map) {
    const object = Object.create(null) as Record<string, JsonValue>
    for (const [key, value] of node) object[key] = toPlainJson(value, ofLarge)
    return object
  }
  if (Array.isArray(node)) return node.map((item) => toPlainJson(item, ofLarge))
  return typeof node === 'bigint' ? ofLarge(node) : node
}
