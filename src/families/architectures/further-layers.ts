// Layers at the end that predict further tokens. GGUF counts them among the layers; a configuration counts them by themselves.
import { num, numberIn } from '../facts.js'
import type { Config, Family, KeyRule } from '../family.js'

const further = (config: Config): number => numberIn(config, 'num_nextn_predict_layers') ?? 0

export const countsFurtherLayers: Pick<Family, 'layers' | 'unsettle'> = {
  layers: (config) => num(config, 'num_hidden_layers') + further(config),
  unsettle: (config) => ({ ...config, num_hidden_layers: num(config, 'num_hidden_layers') - further(config) }),
}

export const furtherLayers: KeyRule = {
  key: 'nextn_predict_layers',
  type: 'u32',
  from: ['num_nextn_predict_layers'],
}

/** Where none is the same as no entry. */
export const anyFurtherLayers: KeyRule = {
  ...furtherLayers,
  value: ({ config }) => config.num_nextn_predict_layers || undefined,
}
