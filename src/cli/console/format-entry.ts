// Metadata for people.
import { type JsonValue, shortestF32 } from '../../kit-node.js'

/** The type and the value of a metadata entry: `u32` and `8`, or `str[3]` and `["a", "b", "c"]`. */
export function formatEntry(entry: JsonValue): [type: string, value: string] {
  const { type, item, length, value } = entry as { type: string; item?: string; length?: number; value?: JsonValue }
  const shownType = item === undefined ? type : `${item}[${length}]`
  const shown = (each: JsonValue): string => formatScalar(item ?? type, each)
  if (!Array.isArray(value)) return [shownType, shown(value ?? null)]
  const items = value.map((each) => (isTyped(each) ? formatScalar(each.type, each.value) : shown(each)))
  const isCut = length !== undefined && length > items.length
  return [shownType, `[${items.join(', ')}${isCut ? ', …' : ''}]`]
}

/** JSON, but a float of single precision has only the digits that tell it from others. */
const formatScalar = (type: string, value: JsonValue): string =>
  JSON.stringify(type === 'f32' && typeof value === 'number' ? shortestF32(value) : value)

const isTyped = (value: JsonValue): value is { type: string; value: JsonValue } =>
  typeof value === 'object' && value !== null && 'type' in value && 'value' in value
