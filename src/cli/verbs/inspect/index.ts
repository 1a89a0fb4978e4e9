import type { OptionsOf } from '../../flags/flag.js'
import { parseCount } from '../../flags/parse-values.js'
import { inputs, recursive, tableFlags, tensors } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const inspect = defineVerb({
  name: 'inspect',
  summary: 'show what is inside: architecture, memory, metadata, parts and tensors',
  arguments: [inputs],
  flags: {
    recursive,
    tensors,
    tree: { description: 'group tensors by the parts of their names, with subtotals' },
    metadata: { description: 'metadata only' },
    all: { description: 'every tensor and entry in a row of its own: neither joined layers nor a limit' },
    limit: { value: '<n>', description: 'show at most this many tensors (on a terminal 100)', parse: parseCount },
    sort: {
      value: '<key>',
      description: 'order of the tensors: size, name or offset',
      choices: ['size', 'name', 'offset'],
    },
    ...tableFlags,
    stats: { description: 'read the values too and add minimum, maximum, mean and deviation' },
  },
  no: 'the input is damaged or of no known format; with --stats also when values do not have their checksums',
  examples: [
    ['tare inspect model.safetensors', 'what it is, whether it fits, its metadata and a table of its tensors'],
    ['tare inspect --tree --limit 40 model.gguf', 'the same by layer, with sizes added up'],
    ['tare inspect --json --tensors "*.bias" model.gguf', 'only the biases, for a program'],
  ],
})

export type InspectOptions = OptionsOf<typeof inspect.flags>
