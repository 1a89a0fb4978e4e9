// What a configuration says about packed weights: `quantization_config` for most libraries, `quantization` for MLX.

/** JSON from a file: nothing about its values is certain. */
export type Settings = Readonly<Record<string, unknown>>

export const isSettings = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The keys of config.json that describe packed weights. */
export const settingsKeys = ['quantization_config', 'compression_config', 'quantization'] as const

/** Empty where the configuration says nothing. */
export function packingSettings(config: Settings | undefined): Settings {
  for (const place of [config, config?.text_config, config?.llm_config]) {
    if (!isSettings(place)) continue
    for (const key of settingsKeys) if (isSettings(place[key])) return place[key]
  }
  return {}
}

/** Which library packed the weights, as the configuration calls it. */
export const methodOf = ({ quant_method: method }: Settings): string | undefined =>
  typeof method === 'string' ? method.toLowerCase() : undefined

/** Whether weights have the layout of this library. AutoRound packs them in the layouts of others, and names which. */
export function usesLayout(settings: Settings, library: 'gptq' | 'awq'): boolean {
  const method = methodOf(settings)
  if (method !== 'auto-round' && method !== 'intel/auto-round') return method === library
  return String(settings.packing_format ?? 'gptq').includes(library)
}

export function wholeNumber(settings: Settings, key: string): number | undefined {
  const value = settings[key]
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined
}
