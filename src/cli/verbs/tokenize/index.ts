import type { OptionsOf } from '../../flags/flag.js'
import { parsePositive } from '../../flags/parse-values.js'
import { cased, file, textArguments, vocab } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const tokenize = defineVerb({
  name: 'tokenize',
  summary: 'split texts into the tokens of a model, or turn ids back into text',
  arguments: textArguments,
  flags: {
    file,
    profile: {
      value: '<name>',
      description:
        'WordPiece with a plain list of tokens. original (or bert): as BERT does; reference: byte by byte, as the EMBD library does. Default: the tokenizer that the model brings, else original',
      choices: ['original', 'bert', 'reference'],
    },
    maxLength: {
      value: '<n>',
      description: 'maximum tokens of a text; the reference profile also pads to it (default: 256)',
      parse: parsePositive,
    },
    vocab: {
      ...vocab,
      description: 'take the vocabulary from this text file, one token per line, or from a tokenizer.json',
    },
    cased,
    decode: { description: 'the other way round: turn lists of ids, such as "1 2 3", into text' },
    special: { negated: 'leave out the tokens that a model wants around a text' },
  },
  no: 'the model has no usable vocabulary, or is damaged',
  examples: [
    ['tare tokenize model.weights "unaffable dogs"', 'the tokens and their ids'],
    ['tare tokenize model.gguf "Hello world"', 'the same for a model of llama.cpp, or a model directory'],
    ['tare tokenize --decode tokenizer.json "9906 1917"', 'ids back to text'],
    ['tare tokenize --json --file texts.txt model.weights', 'one JSON object for each line of a file'],
  ],
})

export type TokenizeOptions = OptionsOf<typeof tokenize.flags>
