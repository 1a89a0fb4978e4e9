// What the metadata of a model of llama.cpp says about how its weights are quantized: `general.file_type` names the mix, or the type that
// most weights have.
import type { Metadata } from '../../model/index.js'
import { inOrderOfLayers } from '../../transforms/quantize/mixes/choose-types.js'
import { fileTypeValue } from '../../transforms/quantize/mixes/file-types.js'
import type { MethodChoice } from '../../transforms/quantize/plan.js'
import type { ConvertOptions, QuantizeSettings } from '../options.js'
import type { State } from './state.js'
import type { Setting } from './typed-value.js'

/** The version of ggml's block types, which has not changed for years. */
const quantizationVersion = 2

/** What is to be set, unless the caller has set or removed it. */
export function fileTypeSettings(
  options: ConvertOptions,
  metadata: Metadata,
  settings: QuantizeSettings,
  choices: readonly MethodChoice[],
): Setting[] {
  const isOfLlamaCpp = metadata.get('general.architecture')?.type === 'str'
  const value = fileTypeValue(settings.methods ? prevailing(choices) : settings.method)
  if (!isOfLlamaCpp || value === undefined || !choices.some(({ method }) => method)) return []
  const settled = new Set([...(options.set ?? []).map(([key]) => key), ...(options.unset ?? [])])
  const own: Setting[] = [
    ['general.quantization_version', `${quantizationVersion}`, 'u32'],
    ['general.file_type', `${value}`, 'u32'],
    ...matrixSettings(settings),
  ]
  return own.filter(([key]) => !settled.has(key))
}

/** Tensors by layer and name, and what is set at the end of the metadata: the file that llama-quantize writes. */
export function inOrderOfReference(state: State, set: readonly Setting[]): State {
  const { model, items } = state
  const order = inOrderOfLayers(items.map(({ original, tensor }) => tensor ?? original))
  const metadata = new Map(model.metadata)
  for (const [key] of set) metadata.delete(key)
  return {
    ...state,
    model: { ...model, metadata, tensors: order.map((position) => model.tensors.at(position)!) },
    items: order.map((position) => items[position]!),
  }
}

/** Where the importance weights come from. */
function matrixSettings({ importanceOrigin }: QuantizeSettings): Setting[] {
  if (!importanceOrigin) return []
  const { file, dataset, entries, chunks } = importanceOrigin
  return [
    ['quantize.imatrix.file', file, 'str'],
    ...(dataset === undefined ? [] : [['quantize.imatrix.dataset', dataset, 'str'] as const]),
    ['quantize.imatrix.entries_count', `${entries}`, 'u32'],
    ...(chunks > 0 ? [['quantize.imatrix.chunks_count', `${chunks}`, 'u32'] as const] : []),
  ]
}

/** The method that most values take. */
function prevailing(choices: readonly MethodChoice[]): string {
  const elements = new Map<string, number>()
  for (const { method = '', elements: count } of choices) elements.set(method, (elements.get(method) ?? 0) + count)
  elements.delete('')
  return [...elements].reduce((largest, each) => (each[1] > largest[1] ? each : largest), ['', 0] as [
    string,
    number,
  ])[0]
}
