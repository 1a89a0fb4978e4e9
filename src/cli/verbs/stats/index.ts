import type { OptionsOf } from '../../flags/flag.js'
import { parsePositive } from '../../flags/parse-values.js'
import { inputs, tableFlags, tensors, threads, workers } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const stats = defineVerb({
  name: 'stats',
  summary: 'print minimum, maximum, mean, median, deviation, special values and a histogram of each tensor',
  arguments: [inputs],
  flags: {
    tensors,
    bins: { value: '<n>', description: 'number of bars in the histogram', parse: parsePositive },
    exact: { description: 'compute the exact median, in a second pass' },
    ...tableFlags,
    threads,
    workers,
  },
  no: 'the input is damaged',
  examples: [
    ['tare stats --tensors "*.norm.*" model.safetensors', 'one row per tensor, with a small histogram'],
    ['tare stats --format csv --columns name,min,max model.gguf > ranges.csv', 'some columns, for a spreadsheet'],
  ],
})

export type StatsOptions = OptionsOf<typeof stats.flags>
