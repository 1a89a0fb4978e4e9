// What becomes of a model that is written: only encoders can be, as a graph that is made from their weights.

import { vocabularyKind } from '../../content/vocabulary.js'
import { embedCodes } from '../../embed/codes.js'
import { type Encoder, type EncoderOptions, findEncoder } from '../../embed/encoder.js'
import { failWith, TareError } from '../../errors/index.js'
import type { Fit, FormatOption, Model, OptionValues, Part, Tensor, WriteCapabilities } from '../../model/index.js'

/** The property that a vocabulary becomes. */
export const vocabularyKey = 'tare.vocabulary'

export const exportOptions: readonly FormatOption[] = [
  { name: 'heads', argument: 'N', kind: 'integer', description: 'how many attention heads the encoder has' },
  {
    name: 'profile',
    argument: 'original|reference',
    choices: ['original', 'reference'],
    description: 'compute as the original model does (default), or as the reference library of EMBD',
  },
]

/** Fails with what is missing when the model is not an encoder: every tensor would be refused for the same reason. */
export function exportCapabilities(model: Model, extra: OptionValues): WriteCapabilities {
  // How many heads there are does not matter for what fits, and config.json is asked for it only when the graph is made.
  const unused = new Set(encoderIn(model, { ...graphOptions(extra), heads: 1 }).unused)
  const no = (reason: string): { fits: false; reason: string } => ({ fits: false, reason })
  return {
    order: 'both',
    shards: false,
    // The graph itself transposes and decodes weights.
    orientation: 'as-is',
    tensor(tensor: Tensor): Fit<Tensor> {
      if (unused.has(tensor.name)) return no('the graph of the encoder does not use it')
      return { fits: true, as: tensor, loss: 'form', reason: 'becomes a constant of the graph, as f32' }
    },
    metadata: (_key, value) =>
      value.type === 'str' && !value.bytes ? { fits: true } : no('properties of ONNX are texts'),
    part(part: Part): Fit<Part> {
      if (part.kind !== vocabularyKind) return no('the graph of an encoder cannot store it')
      return { fits: true, as: part, loss: 'form', reason: `kept as text in the property ${vocabularyKey}` }
    },
  }
}

function encoderIn(model: Model, options: EncoderOptions): Encoder {
  try {
    return findEncoder(model, options)
  } catch (error) {
    if (!(error instanceof TareError) || error.code !== embedCodes['not-an-encoder'].code) throw error
    const { file, path, message } = error.finding
    const hint = `ONNX files are written for BERT encoders only, and this model is none: ${message}`
    return failWith(embedCodes['not-an-encoder'], { file, path, message: hint })
  }
}

export const graphOptions = (extra: OptionValues | undefined) => ({
  heads: extra?.heads as number | undefined,
  profile: extra?.profile as 'original' | 'reference' | undefined,
})
