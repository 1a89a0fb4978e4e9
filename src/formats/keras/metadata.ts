// Attributes and the configuration as metadata. Attributes of the root have their own names; those of other objects are called `PATH@NAME`.
import { encodeUtf8 } from '../../bytes/index.js'
import { type DType, dtypeById } from '../../dtypes/index.js'
import { strictReport, TareError } from '../../errors/index.js'
import { type FloatType, type IntegerType, listOf, type MetaValue, type Part, text } from '../../model/index.js'
import type { Attribute } from '../../wire/hdf5/attributes.js'
import { type JsonNode, parseJson } from '../../wire/index.js'

export const configKey = 'model_config'

export const attributeKey = (names: readonly string[], name: string): string =>
  names.length === 0 ? name : `${names.join('/')}@${name}`

export function metaValueOf({ texts, bytes, shape, type }: Attribute): MetaValue | undefined {
  if (texts) {
    const values = texts.map(text)
    return shape.length === 0 ? values[0] : listOf('str', values)
  }
  const dtype = type.dtype === undefined ? undefined : dtypeById(type.dtype)
  if (!dtype || !bytes) return undefined
  const value = type.bigEndian ? turned(bytes, dtype) : bytes
  if (shape.length === 0) return scalarOf(dtype.id, value) ?? { type: 'ndarray', dtype, shape, value }
  return { type: 'ndarray', dtype, shape, value }
}

/** The two parts of a complex number are turned one by one. */
function turned(bytes: Uint8Array, dtype: DType): Uint8Array {
  const width = dtype.kind === 'complex' ? dtype.group.bytes / 2 : dtype.group.bytes
  const out = new Uint8Array(bytes.byteLength)
  for (let at = 0; at < bytes.byteLength; at += width) out.set(bytes.slice(at, at + width).reverse(), at)
  return out
}

function scalarOf(id: string, bytes: Uint8Array): MetaValue | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const whole = (value: number | bigint): MetaValue => ({ type: id as IntegerType, value })
  const real = (value: number): MetaValue => ({ type: id as FloatType, value })
  if (id === 'bool') return { type: 'bool', value: view.getUint8(0) !== 0 }
  if (id === 'i8') return whole(view.getInt8(0))
  if (id === 'u8') return whole(view.getUint8(0))
  if (id === 'i16') return whole(view.getInt16(0, true))
  if (id === 'u16') return whole(view.getUint16(0, true))
  if (id === 'i32') return whole(view.getInt32(0, true))
  if (id === 'u32') return whole(view.getUint32(0, true))
  if (id === 'i64') return whole(view.getBigInt64(0, true))
  if (id === 'u64') return whole(view.getBigUint64(0, true))
  if (id === 'f32') return real(view.getFloat32(0, true))
  if (id === 'f64') return real(view.getFloat64(0, true))
  return undefined
}

/** What the configuration says about the model, for `inspect`. */
export function modelInfo(config: string | undefined): Part[] {
  const root = config === undefined ? undefined : parsed(config)
  const kind = root instanceof Map ? root.get('class_name') : undefined
  const inner = root instanceof Map ? root.get('config') : undefined
  if (typeof kind !== 'string') return []
  const name = inner instanceof Map ? inner.get('name') : undefined
  const layers = inner instanceof Map ? inner.get('layers') : inner
  const count = Array.isArray(layers) ? layers.filter((layer) => !isInput(layer)).length : 0
  const arch = typeof name === 'string' && name !== '' ? `${kind} ${name}` : kind
  const value = { arch, ...(count > 0 && { layerCount: count }) }
  return [{ kind: 'keras.model-info', sharing: 'derived', value }]
}

const isInput = (layer: JsonNode): boolean => layer instanceof Map && layer.get('class_name') === 'InputLayer'

/** Models contain models. */
export const maxDepth = 256

function parsed(config: string): JsonNode | undefined {
  try {
    return parseJson(encodeUtf8(config), strictReport(configKey), { path: configKey, maxDepth })
  } catch (error) {
    if (error instanceof TareError) return undefined
    throw error
  }
}
