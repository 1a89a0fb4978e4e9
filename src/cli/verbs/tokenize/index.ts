import type { OptionsOf } from '../../flags/flag.js'
import { parsePositive } from '../../flags/parse-values.js'
import { cased, file, textArguments, vocab } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const tokenize = defineVerb({
  name: 'tokenize',
  summary: 'split texts into tokens of the vocabulary that a model carries',
  arguments: textArguments,
  flags: {
    file,
    profile: {
      value: '<name>',
      description: 'original (or bert): as BERT does, the default; reference: byte by byte, as the EMBD library does',
      choices: ['original', 'bert', 'reference'],
    },
    maxLength: {
      value: '<n>',
      description: 'maximum tokens of a text; the reference profile also pads to it (256)',
      parse: parsePositive,
    },
    vocab,
    cased,
  },
  no: 'the model has no usable vocabulary, or is damaged',
  examples: [
    ['tare tokenize model.weights "unaffable dogs"', 'the tokens and their ids'],
    ['tare tokenize --json --file texts.txt model.weights', 'one JSON object for each line of a file'],
  ],
})

export type TokenizeOptions = OptionsOf<typeof tokenize.flags>
