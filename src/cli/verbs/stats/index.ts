import { parsePositive } from '../../flags/parse-values.js'
import { inputs, tensors, threads } from '../../flags/shared.js'
import type { Verb } from '../verb.js'

export const stats: Verb = {
  name: 'stats',
  summary: 'minimum, maximum, mean, median, deviation, special values and histogram per tensor',
  arguments: [inputs],
  options: [
    tensors,
    { flags: '--bins <n>', description: 'how many bars the histogram has', parse: parsePositive },
    { flags: '--exact', description: 'the exact median, for which the values are read again' },
    threads,
  ],
  examples: [['tare stats --tensors "*.norm.*" model.safetensors', 'one row per tensor, with a small histogram']],
  load: () => import('./run.js'),
}
