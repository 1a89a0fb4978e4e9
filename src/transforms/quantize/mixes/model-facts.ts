// What the rules of the mixes ask about a model: facts from its metadata, under the keys of llama.cpp.
import type { Metadata, MetaValue } from '../../../model/index.js'

export interface ModelFacts {
  readonly architecture: string
  readonly layers: number
  readonly experts: number
  /** How many heads of Q share one of K and V. */
  readonly headsPerKv: number
  /** A model of about 70 billion parameters whose heads share V, which is then small and worth more bits. */
  readonly isLarge: boolean
}

/** By architecture: how many layers such a large model has. */
const largeLayers: Readonly<Record<string, number>> = {
  llama: 80,
  'llama-embed': 80,
  qwen2: 80,
  deci: 80,
  olmo: 80,
  jais2: 68,
}
/** Of these there is one of that size whose heads share nothing. */
const mayShareNothing: ReadonlySet<string> = new Set(['llama', 'llama-embed'])

/** Undefined where the metadata does not describe a model of llama.cpp. */
export function modelFacts(metadata: Metadata): ModelFacts | undefined {
  const architecture = metadata.get('general.architecture')
  if (architecture?.type !== 'str') return undefined
  const numberAt: NumberAt = (key) => firstNumber(metadata.get(`${architecture.value}.${key}`))
  const layers = layerCount(architecture.value, numberAt)
  if (layers === undefined) return undefined
  const heads = numberAt('attention.head_count') ?? 0
  const kvHeads = numberAt('attention.head_count_kv') ?? heads
  const experts = numberAt('expert_count') ?? 0
  const isLarge = largeLayers[architecture.value] === layers
  const sharesNothing = mayShareNothing.has(architecture.value) && (heads === kvHeads || experts === 8)
  return {
    architecture: architecture.value,
    layers,
    experts,
    headsPerKv: kvHeads === 0 ? 0 : Math.floor(heads / kvHeads),
    isLarge: isLarge && !sharesNothing,
  }
}

type NumberAt = (key: string) => number | undefined

/** The layers that the rules count with, which are not always those that are stored. */
function layerCount(architecture: string, numberAt: NumberAt): number | undefined {
  // llama-quantize reads nothing about the model from the file of an image encoder.
  if (architecture === 'clip') return 0
  const stored = numberAt('block_count')
  if (stored === undefined) return undefined
  if (architecture === 'nanbeige') return stored * Math.max(1, numberAt('num_loops') ?? 1)
  // The router counts as a layer.
  if (architecture === 'graniteswitch') return stored + 1
  return stored
}

/** A number; of a list, which has one for every layer, the first. */
function firstNumber(value: MetaValue | undefined): number | undefined {
  if (value?.type === 'array') return firstNumber((value.slice?.(0, 1) ?? value.values())[0])
  if (value === undefined || !('value' in value)) return undefined
  const number = typeof value.value === 'bigint' ? Number(value.value) : value.value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined
}
