// ModelInfo from the config.json of a Hugging Face model, with the fields and keys that the reference's pack command fills.
import { decodeUtf8 } from '../../../bytes/index.js'
import type { MetaValue } from '../../../model/index.js'
import { architectures, emptyModelInfo, type ModelInfo } from './model-info.js'

export interface FilledModelInfo {
  readonly info: ModelInfo
  readonly extras: ReadonlyMap<string, MetaValue>
}

/** Every key that can be filled in. */
export const filledKeys = ['hf.config_json_present', 'hf.model_type', 'hf.rope_scaling'] as const

/** The model type is matched as a part of the word, in this order; granite is not among them. */
const matchOrder = ['llama', 'mistral', 'qwen', 'gemma', 'smollm3'] as const

/** A config that cannot be parsed fills nothing; it is still carried as the file that it is. */
export function modelInfoFromConfig(config: Uint8Array, modelName: string): FilledModelInfo {
  const object = parseObject(config)
  const info: ModelInfo = { ...emptyModelInfo, modelName }
  const extras = new Map<string, MetaValue>()
  if (!object) return { info, extras }
  const get = (key: string): unknown => (Object.hasOwn(object, key) ? object[key] : undefined)
  const modelType = get('model_type')
  extras.set('hf.config_json_present', { type: 'u32', value: 1 })
  if (typeof modelType === 'string' && modelType !== '') extras.set('hf.model_type', { type: 'str', value: modelType })
  const scaling = get('rope_scaling')
  if (typeof scaling === 'object' && scaling !== null && !Array.isArray(scaling) && Object.keys(scaling).length > 0)
    extras.set('hf.rope_scaling', { type: 'str', value: 'present' })
  const filled: ModelInfo = {
    ...info,
    arch: archOf(modelType),
    vocabSize: toU32(get('vocab_size')),
    hiddenSize: toU32(get('hidden_size')),
    layerCount: toU32(get('num_hidden_layers')),
    headCount: toU32(get('num_attention_heads')),
    headCountKv: toU32(get('num_key_value_heads')),
    contextLength: toU32(get('max_position_embeddings')),
    ropeFreqBase: toF32(get('rope_theta')),
  }
  return { info: filled, extras }
}

function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(decodeUtf8(bytes) ?? '')
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

function archOf(modelType: unknown): number {
  if (typeof modelType !== 'string') return 0
  const lower = modelType.toLowerCase()
  const match = matchOrder.find((name) => lower.includes(name))
  return match === undefined ? 0 : architectures.indexOf(match)
}

/** Cut to a whole number; 0 for what is not a number or does not fit. */
function toU32(value: unknown): number {
  if (typeof value !== 'number') return 0
  const whole = Math.trunc(value)
  return whole >= 0 && whole <= 0xffffffff ? whole + 0 : 0
}

function toF32(value: unknown): number {
  const rounded = typeof value === 'number' ? Math.fround(value) : 0
  return Number.isFinite(rounded) ? rounded : 0
}
