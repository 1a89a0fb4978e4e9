import type { OptionsOf } from '../../flags/flag.js'
import { parseCount, parseTolerance } from '../../flags/parse-values.js'
import { input, tableFlags, threads, workers } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const diff = defineVerb({
  name: 'diff',
  summary: 'compare two models of any formats: tensors, values, metadata and parts',
  description:
    'Lists only what differs, the most serious first. Exit status 0 when the models are equal, 1 when they are not. Without --tolerance element types count too; with it, only values do.',
  arguments: [
    { name: '<a>', description: input.description },
    { name: '<b>', description: 'the model to compare it with' },
  ],
  flags: {
    tolerance: {
      value: '<number>',
      description:
        'treat elements as equal if they are this close: |a-b| <= abs + rel * max(|a|,|b|), given as 1e-5 for both or as abs=1e-6,rel=1e-3',
      parse: parseTolerance,
    },
    metric: {
      value: '<name>',
      description:
        'sort by this metric and apply --tolerance to it: an upper bound for max-abs, max-rel, rmse and differing, a lower bound for snr and cosine',
      choices: ['max-abs', 'max-rel', 'rmse', 'snr', 'cosine', 'differing'],
    },
    namesOnly: { description: 'print only the names of the tensors that differ; values are not compared' },
    tensors: {
      value: '<glob>',
      description: 'compare only tensors whose name matches, and no metadata or parts',
      repeat: true,
    },
    limit: {
      value: '<n>',
      description: 'show at most this many rows of each kind (default: 100 on a terminal)',
      parse: parseCount,
    },
    ...tableFlags,
    threads,
    workers,
  },
  no: 'the models differ, or one of them is damaged',
  examples: [
    ['tare diff base.safetensors tuned.safetensors', 'which tensors differ, where, and by how much'],
    ['tare diff --tolerance 1e-3 model.safetensors model-f16.gguf', 'whether values survived a conversion'],
    [
      'tare diff --metric snr --tolerance 30 --tensors "*" model.safetensors model-q8.gguf',
      'whether every quantized tensor keeps 30 dB, ignoring metadata',
    ],
  ],
})

export type DiffOptions = OptionsOf<typeof diff.flags>
