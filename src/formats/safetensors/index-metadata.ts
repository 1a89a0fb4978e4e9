// The index of a set has metadata of its own. A single file has no index; there they are kept as the JSON text of one metadata entry, from
// which a set gets them back.
import { encodeUtf8 } from '../../bytes/index.js'
import { toPlainJson } from '../../content/plain-json.js'
import { strictReport, TareError } from '../../errors/index.js'
import { type JsonValue, type Metadata, type Model, type Part, text } from '../../model/index.js'
import { type JsonNode, parseJson } from '../../wire/index.js'

export const indexMetadataKey = 'tare.index_metadata'
export const indexMetadataKind = 'safetensors.index-metadata'

export const indexMetadataPart = (value: JsonValue): Part => ({ kind: indexMetadataKind, sharing: 'private', value })

const valueIn = ({ parts }: Model): JsonValue | undefined => parts.find(({ kind }) => kind === indexMetadataKind)?.value

export const indexMetadataOf = (model: Model): Readonly<Record<string, JsonValue>> =>
  (valueIn(model) ?? {}) as Readonly<Record<string, JsonValue>>

/** What a single file of the model has as metadata. */
export function storedMetadata(model: Model): Metadata {
  const value = valueIn(model)
  return value === undefined
    ? model.metadata
    : new Map([...model.metadata, [indexMetadataKey, text(JSON.stringify(value))]])
}

/** The model of a single file, with the metadata of an index where they belong. */
export function withIndexMetadata(model: Model): Model {
  const stored = model.metadata.get(indexMetadataKey)
  const value = stored?.type === 'str' ? parseObject(stored.value) : undefined
  if (value === undefined) return model
  const metadata = new Map([...model.metadata].filter(([key]) => key !== indexMetadataKey))
  return { ...model, metadata, parts: [...model.parts, indexMetadataPart(value)] }
}

/** Undefined for anything but an object: then the entry is ordinary metadata. */
function parseObject(json: string): JsonValue | undefined {
  try {
    const value = parseJson(encodeUtf8(json), strictReport(indexMetadataKey), { path: indexMetadataKey })
    return value instanceof Map ? toPlain(value) : undefined
  } catch (error) {
    if (error instanceof TareError) return undefined
    throw error
  }
}

export const toPlain = (node: JsonNode): JsonValue => toPlainJson(node, (value) => value.toString())
