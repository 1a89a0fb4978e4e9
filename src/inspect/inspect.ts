// What a model contains, as plain JSON. The command line prints it; programs use it as it is.
import { maxSafe } from '../bytes/index.js'
import type { Scalar } from '../dtypes/dtype.js'
import {
  type Dim,
  type JsonValue,
  type MetaValue,
  type Model,
  type Part,
  stowageKey,
  type Tensor,
  totalSize,
} from '../model/index.js'
import { shownDims } from '../model/model.js'
import { findStowage } from '../stow/index.js'

export interface InspectedTensor {
  readonly name: string
  readonly path?: readonly string[]
  readonly stat?: string
  readonly dtype: string
  readonly encoding?: string
  readonly shape: readonly Dim[]
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

/** What a model contains, as plain JSON. */
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
  /** How many items of a long metadata list are shown. Its length is always given. */
  readonly listLimit?: number
}

export function inspectModel(model: Model, options: InspectOptions = {}): Inspection {
  const main = model.files[0]?.name ?? ''
  return { ...inspectHead(model, options), tensors: model.tensors.map((tensor) => inspectTensor(tensor, main)) }
}

/** Everything but the tensors. */
export function inspectHead(model: Model, options: InspectOptions = {}): Omit<Inspection, 'tensors'> {
  const metadata = Object.create(null) as Record<string, JsonValue>
  for (const [key, value] of model.metadata) metadata[key] = metaToJson(value, options.listLimit ?? 32)
  return {
    file: model.files[0]?.name ?? '',
    format: model.format,
    ...(model.version === undefined ? {} : { version: model.version }),
    ...(model.variant === undefined ? {} : { variant: model.variant }),
    size: totalSize(model),
    metadata,
    parts: [...model.parts.map(inspectPart), ...inspectStowage(model, options.listLimit ?? 32)],
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

/** What the container carries for a model of another format. */
function inspectStowage({ metadata }: Model, limit: number): JsonValue[] {
  const stowage = metadata.has(stowageKey) ? findStowage(metadata)?.stowage : undefined
  if (!stowage) return []
  const { from, metadata: entries = [], parts = [], tensors = [] } = stowage
  const value: JsonValue = {
    from: from.format,
    ...(from.version !== undefined && { version: from.version }),
    ...(from.variant !== undefined && { variant: from.variant }),
    metadata: entries.slice(0, limit).map(([key]) => key),
    parts: parts.slice(0, limit).map(({ kind, name }) => name ?? kind),
    tensors: tensors.slice(0, limit).map(({ stored, name }) => stored ?? name ?? ''),
    counts: { metadata: entries.length, parts: parts.length, tensors: tensors.length },
  }
  return [{ kind: 'stowage', sharing: 'shared', value }]
}

/** One tensor; `main` is the name of the file that was opened. */
export function inspectTensor(tensor: Tensor, main: string): InspectedTensor {
  const { name, path, stat, dtype, encoding, data, order, role, quant, extra } = tensor
  const shape = shownDims(tensor)
  const origin = data?.origin
  const bytes = data?.byteLength ?? null
  const offset = origin?.offset ?? null
  const isPlain = !path && !encoding && !quant && !extra && stat === undefined && role === 'weight'
  if (isPlain && (!origin || origin.source.name === main)) return { name, dtype: dtype.id, shape, bytes, offset, order }
  return {
    name,
    ...(path && { path }),
    ...(stat !== undefined && { stat }),
    dtype: dtype.id,
    ...(encoding && { encoding: encoding.id }),
    shape,
    bytes,
    offset,
    ...(origin && origin.source.name !== main && { file: origin.source.name }),
    order,
    ...(role === 'state' && { role }),
    ...(quant && { quant: quant as unknown as JsonValue }),
    ...(extra && { extra }),
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
      return { type: 'ndarray', dtype: value.dtype.id, shape: shownDims(value), value: shown }
    }
    case 'array': {
      const items = value.slice?.(0, listLimit) ?? value.values().slice(0, listLimit)
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

/** JSON has no infinities, no NaN and no portable integers beyond 2^53-1; these become strings. */
function scalarToJson(value: Scalar | undefined): JsonValue {
  if (value === undefined) return null
  if (typeof value === 'boolean') return value
  if (typeof value === 'bigint') {
    const magnitude = value < 0n ? -value : value
    return magnitude <= BigInt(maxSafe) ? Number(value) : value.toString()
  }
  if (typeof value === 'object') return [scalarToJson(value.re), scalarToJson(value.im)]
  return Number.isFinite(value) ? value : String(value)
}
