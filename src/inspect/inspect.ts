// What is in a model, as plain JSON. The command line prints it; programs use it as it is.
import { type JsonValue, type MetaValue, type Model, type Part, type Tensor, totalSize } from '../model/index.js'
import { scalarToJson } from './scalar-json.js'

export interface InspectedTensor {
  readonly name: string
  readonly path?: readonly string[]
  readonly stat?: string
  readonly dtype: string
  readonly encoding?: string
  readonly shape: readonly number[]
  /** Stored bytes; null when the tensor is declared without data. */
  readonly bytes: number | null
  /** Where the bytes begin, in `file` (absent for the file that was opened); null when they are made on the fly. */
  readonly offset: number | null
  readonly file?: string
  readonly order: 'row' | 'column'
  readonly role?: 'state'
  readonly quant?: JsonValue
  readonly extra?: JsonValue
}

export interface Inspection {
  readonly file: string
  readonly format: string
  readonly version?: string
  readonly variant?: string
  readonly size: number
  readonly metadata: { readonly [key: string]: JsonValue }
  readonly parts: readonly JsonValue[]
  readonly tensors: readonly InspectedTensor[]
}

export interface InspectOptions {
  /** How many items of a long metadata list are shown; its length is always there. */
  readonly listLimit?: number
}

export function inspectModel(model: Model, options: InspectOptions = {}): Inspection {
  const metadata = Object.create(null) as Record<string, JsonValue>
  for (const [key, value] of model.metadata) metadata[key] = metaToJson(value, options.listLimit ?? 32)
  const main = model.files[0]
  return {
    file: main?.name ?? '',
    format: model.format,
    ...(model.version === undefined ? {} : { version: model.version }),
    ...(model.variant === undefined ? {} : { variant: model.variant }),
    size: totalSize(model),
    metadata,
    parts: model.parts.map(inspectPart),
    tensors: model.tensors.map((tensor) => inspectTensor(tensor, main?.name ?? '')),
  }
}

function inspectPart(part: Part): JsonValue {
  return {
    kind: part.kind,
    sharing: part.sharing,
    ...(part.name === undefined ? {} : { name: part.name }),
    value: part.value,
    ...(part.data === undefined ? {} : { bytes: part.data.byteLength }),
  }
}

function inspectTensor(tensor: Tensor, main: string): InspectedTensor {
  const origin = tensor.data?.origin
  return {
    name: tensor.name,
    ...(tensor.path && { path: tensor.path }),
    ...(tensor.stat !== undefined && { stat: tensor.stat }),
    dtype: tensor.dtype.id,
    ...(tensor.encoding && { encoding: tensor.encoding.id }),
    shape: tensor.shape,
    bytes: tensor.data?.byteLength ?? null,
    offset: origin?.offset ?? null,
    ...(origin && origin.source.name !== main && { file: origin.source.name }),
    order: tensor.order,
    ...(tensor.role === 'state' && { role: 'state' as const }),
    ...(tensor.quant && { quant: tensor.quant as unknown as JsonValue }),
    ...(tensor.extra && { extra: tensor.extra }),
  }
}

export function metaToJson(value: MetaValue, listLimit: number): JsonValue {
  switch (value.type) {
    case 'null':
      return { type: 'null', value: null }
    case 'str':
      return { type: 'str', value: value.value, ...(value.bytes && { bytes: [...value.bytes] }) }
    case 'bytes':
      return { type: 'bytes', length: value.value.byteLength, value: [...value.value.subarray(0, listLimit)] }
    case 'bitset':
      return { type: 'bitset', bits: value.bits, value: [...value.value.subarray(0, listLimit)] }
    case 'ndarray': {
      const count = value.shape.reduce((product, dim) => product * dim, 1)
      const shown = Array.from({ length: Math.min(count, listLimit) }, (_, i) =>
        scalarToJson(value.dtype.codec?.element(value.value, i)),
      )
      return { type: 'ndarray', dtype: value.dtype.id, shape: value.shape, value: shown }
    }
    case 'array': {
      const items = value.values().slice(0, listLimit)
      return {
        type: 'array',
        item: value.item,
        length: value.length,
        value: items.map((item) => metaToJson(item, listLimit)),
      }
    }
    case 'json':
    case 'bool':
      return { type: value.type, value: value.value }
    default:
      return { type: value.type, value: scalarToJson(value.value) }
  }
}
