import { parseOffset, parsePositive } from '../../flags/parse-values.js'
import { inputs } from '../../flags/shared.js'
import type { Verb } from '../verb.js'

export const map: Verb = {
  name: 'map',
  summary: 'account for every byte of the file: offset, length, field and value',
  arguments: [inputs],
  options: [
    {
      flags: '--depth <n>',
      description: 'join fields that share the first N parts of their path',
      parse: parsePositive,
    },
    { flags: '--hex', description: 'show the first bytes of each field' },
    { flags: '--at <offset>', description: 'only what lies at this byte (456 or 0x1c8)', parse: parseOffset },
  ],
  examples: [
    ['tare map --depth 2 model.gguf', 'the file as a list of regions'],
    ['tare map --at 0x1c8 --hex model.oinf', 'the field at one offset, with its bytes'],
  ],
  load: () => import('./run.js'),
}
