// Models whose weights are packed in several tensors, and that are to be quantized. Their weights are quantized already: they are decoded on
// request, and otherwise nothing that they are made of may change.
import { callerWord } from '../errors/index.js'
import type { Model } from '../model/index.js'
import { describePacking, membersOf, packingOf } from '../packed/index.js'
import type { ConvertOptions } from './options.js'

/** The options for a model that may be packed. */
export async function withPackedSettings(model: Model, options: ConvertOptions): Promise<ConvertOptions> {
  const { quantize, signal } = options
  if (!quantize) return options
  const { weights } = await packingOf(model, signal)
  if (weights.length === 0) return options
  if (quantize.requantize) return { ...options, unpack: true }
  const untouchable = new Map<string, string>()
  const how = callerWord('--requantize', 'requantize')
  for (const weight of weights)
    for (const { name } of membersOf(weight))
      untouchable.set(name, `part of a weight that is ${describePacking(weight)} already: use ${how}`)
  return { ...options, quantize: { ...quantize, untouchable } }
}
