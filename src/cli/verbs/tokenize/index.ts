import { parsePositive } from '../../flags/parse-values.js'
import { cased, textArguments, texts, vocab } from '../../flags/shared.js'
import type { Verb } from '../verb.js'

export const tokenize: Verb = {
  name: 'tokenize',
  summary: 'cut texts into the tokens of the vocabulary that a model carries',
  arguments: textArguments,
  options: [
    texts,
    {
      flags: '--profile <name>',
      description: 'original (or bert): as BERT does, the default; reference: byte by byte, as the EMBD library does',
      choices: ['original', 'bert', 'reference'],
    },
    {
      flags: '--max-length <n>',
      description: 'the most tokens of a text; the reference profile fills up to it (256)',
      parse: parsePositive,
    },
    vocab,
    cased,
  ],
  examples: [
    ['tare tokenize model.weights "unaffable dogs"', 'the tokens and their ids'],
    ['tare tokenize --json --file texts.txt model.weights', 'one JSON object for each line of a file'],
  ],
  load: () => import('./run.js'),
}
