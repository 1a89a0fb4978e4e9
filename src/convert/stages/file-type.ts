// What the metadata of a model of llama.cpp says about how its weights are quantized: `general.file_type` names the mix, or the type that
// most weights have.
import type { Metadata } from '../../model/index.js'
import { fileTypeValue } from '../../transforms/quantize/mixes/file-types.js'
import type { MethodChoice } from '../../transforms/quantize/plan.js'
import type { ConvertOptions, QuantizeSettings } from '../options.js'
import type { Setting } from './typed-value.js'

/** The version of ggml's block types, which has not changed for years. */
const quantizationVersion = 2

/** The options with what is to be set, before what the caller sets. */
export function withFileType(
  options: ConvertOptions,
  metadata: Metadata,
  settings: QuantizeSettings,
  choices: readonly MethodChoice[],
): ConvertOptions {
  const isOfLlamaCpp = metadata.get('general.architecture')?.type === 'str'
  const value = fileTypeValue(settings.methods ? prevailing(choices) : settings.method)
  if (!isOfLlamaCpp || value === undefined || !choices.some(({ method }) => method)) return options
  const settled = new Set([...(options.set ?? []).map(([key]) => key), ...(options.unset ?? [])])
  const own: Setting[] = [
    ['general.quantization_version', `${quantizationVersion}`, 'u32'],
    ['general.file_type', `${value}`, 'u32'],
    ...matrixSettings(settings),
  ]
  return { ...options, set: [...own.filter(([key]) => !settled.has(key)), ...(options.set ?? [])] }
}

/** Where the importance weights come from. */
function matrixSettings({ imatrix }: QuantizeSettings): Setting[] {
  if (!imatrix) return []
  const { file, dataset, entries, chunks } = imatrix
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
  return [...elements].reduce((most, each) => (each[1] > most[1] ? each : most), ['', 0] as [string, number])[0]
}
