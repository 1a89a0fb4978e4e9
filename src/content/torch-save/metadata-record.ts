// A state dict holds tensors and nothing else: with one more entry, load_state_dict() refuses it. So what other containers say about a model
// goes into a record of the archive beside the pickle, as JSON with the type of each value. `extra/` is where PyTorch's own writers put
// files that users add; its loaders leave them alone.
import { encodeUtf8 } from '../../bytes/index.js'
import { strictReport, TareError } from '../../errors/index.js'
import { type JsonValue, listOf, type Metadata, type MetaValue } from '../../model/index.js'
import { parseJson } from '../../wire/index.js'
import { toPlainJson } from '../plain-json.js'
import { fromTypedJson, toTypedJson } from '../typed-json.js'

export const metadataRecord = 'extra/tare.metadata.json'

const version = 1

export function writeMetadataRecord(metadata: Metadata): Uint8Array {
  const entries = [...metadata].map(([key, value]) => [key, toTypedJson(withNumbers(value))])
  return encodeUtf8(JSON.stringify({ version, metadata: entries }))
}

/** The same integer is the same text, whether a number or a bigint holds it. */
function withNumbers(value: MetaValue): MetaValue {
  if (value.type === 'array') return listOf(value.item, value.values().map(withNumbers))
  if (!('value' in value) || typeof value.value !== 'bigint') return value
  const number = Number(value.value)
  return Number.isSafeInteger(number) ? ({ ...value, value: number } as MetaValue) : value
}

/** Undefined when the bytes were not made by tare. */
export function readMetadataRecord(bytes: Uint8Array): Metadata | undefined {
  const root = parse(bytes)
  const entries = root?.version === version ? root.metadata : undefined
  if (!Array.isArray(entries)) return undefined
  const metadata = new Map<string, MetaValue>()
  for (const entry of entries) {
    const [key, typed] = Array.isArray(entry) ? entry : []
    const value = Array.isArray(typed) ? fromTypedJson(typed) : undefined
    if (typeof key !== 'string' || !value) return undefined
    metadata.set(key, value)
  }
  return metadata
}

function parse(bytes: Uint8Array): { readonly [key: string]: JsonValue } | undefined {
  try {
    const root = parseJson(bytes, strictReport(metadataRecord), { path: metadataRecord })
    if (!(root instanceof Map)) return undefined
    return toPlainJson(root, Number) as { readonly [key: string]: JsonValue }
  } catch (error) {
    if (error instanceof TareError) return undefined
    throw error
  }
}
