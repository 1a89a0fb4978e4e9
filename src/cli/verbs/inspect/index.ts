import { parseCount } from '../../flags/parse-values.js'
import { inputs, tensors } from '../../flags/shared.js'
import type { Verb } from '../verb.js'

export const inspect: Verb = {
  name: 'inspect',
  summary: 'show what is inside: header, metadata, parts and tensors',
  arguments: [inputs],
  options: [
    tensors,
    { flags: '--tree', description: 'group tensors by the parts of their names, with subtotals' },
    { flags: '--metadata', description: 'metadata only' },
    { flags: '--limit <n>', description: 'show at most this many rows (on a terminal 100)', parse: parseCount },
    {
      flags: '--sort <key>',
      description: 'order of the tensors: size, name or offset',
      choices: ['size', 'name', 'offset'],
    },
    { flags: '--stats', description: 'read the values too and add minimum, maximum, mean and deviation' },
  ],
  examples: [
    ['tare inspect model.safetensors', 'what it is, its metadata and a table of its tensors'],
    ['tare inspect --tree --limit 40 model.gguf', 'the same by layer, with sizes added up'],
    ['tare inspect --json --tensors "*.bias" model.gguf', 'only the biases, for a program'],
  ],
  load: () => import('./run.js'),
}
