import type { OptionsOf } from '../../flags/flag.js'
import { parsePositive } from '../../flags/parse-values.js'
import { cased, file, textArguments, vocab } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const embed = defineVerb({
  name: 'embed',
  summary: 'compute sentence embeddings with the encoder that a model carries',
  description:
    'Takes any container with the tensors of a BERT encoder, and the vocabulary from it or from vocab.txt beside it. Needs the package onnxruntime-node.',
  arguments: textArguments,
  flags: {
    file,
    similarity: { description: 'compare all texts with each other: the cosine of their vectors' },
    profile: {
      value: '<name>',
      description:
        'original: as the model is defined, the default; reference: what the EMBD library computes, padding included',
      choices: ['original', 'reference'],
    },
    maxLength: {
      value: '<n>',
      description: 'maximum tokens of a text; the reference profile also pads to it (default: 256)',
      parse: parsePositive,
    },
    heads: {
      value: '<n>',
      description: 'number of attention heads, if neither metadata nor config.json states it',
      parse: parsePositive,
    },
    vocab,
    cased,
    normalize: { negated: 'do not scale the vectors to length 1' },
    threads: { value: '<n>', description: 'number of threads to compute with', parse: parsePositive },
  },
  no: 'the model is not an encoder that can be run, or is damaged',
  examples: [
    ['tare embed model.weights "a text" "another text" --similarity', 'how similar the texts are'],
    ['tare embed --json --file texts.txt model.weights > vectors.ndjson', 'one vector for each line of a file'],
  ],
})

export type EmbedOptions = OptionsOf<typeof embed.flags>
