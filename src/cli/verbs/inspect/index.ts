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
    all: { description: 'list every tensor and entry: no collapsed layers, no limit' },
    limit: {
      value: '<n>',
      description: 'show at most this many tensors (default: 100 on a terminal)',
      parse: parseCount,
    },
    sort: {
      value: '<key>',
      description: 'order of the tensors: size, name or offset',
      choices: ['size', 'name', 'offset'],
    },
    ...tableFlags,
    stats: { description: 'also read the values: minimum, maximum, mean and deviation' },
    bom: {
      group: 'Output',
      description: 'print a bill of materials instead (CycloneDX 1.6), with the digest of every file',
    },
  },
  no: 'the input is damaged or of an unknown format; with --stats, also if values do not match their checksums',
  examples: [
    ['tare inspect model.safetensors', 'architecture, memory, metadata and a table of the tensors'],
    ['tare inspect --tree --limit 40 model.gguf', 'the same by layer, with subtotals'],
    ['tare inspect --bom llama/ > llama.cdx.json', 'a bill of materials for a registry or an audit'],
    ['tare inspect --json --tensors "*.bias" model.gguf', 'only the biases, for a program'],
  ],
})

export type InspectOptions = OptionsOf<typeof inspect.flags>
