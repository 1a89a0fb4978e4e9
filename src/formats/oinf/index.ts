import type { Format } from '../../model/index.js'
import { writeCapabilities } from './capabilities.js'
import { codes } from './codes.js'
import { magic, versionOption } from './structs.js'

export const oinf: Format<'oinf', typeof codes> = {
  id: 'oinf',
  title: 'OINF',
  extensions: ['.oinf'],
  capabilities: { checksums: 'none', defaults: { version: '1' }, write: writeCapabilities },
  codes,
  repairs: 'misplaced data and quantization records; from a cut file with its tables, the complete tensors',

  detect(head, name) {
    if (magic.every((byte, i) => head[i] === byte)) return 'yes'
    return name.toLowerCase().endsWith('.oinf') ? 'maybe' : 'no'
  },

  mainFile(names) {
    const files = names.filter((name) => name.toLowerCase().endsWith('.oinf'))
    return files.length === 1 ? files[0] : undefined
  },

  options: {
    write: [
      {
        name: versionOption,
        argument: '1|2',
        kind: 'integer',
        choices: ['1', '2'],
        description: 'version of the format (default: 2 for quantized models and those from version 2, else 1)',
      },
    ],
  },
  load: async () => (await import('./implementation.js')).oinf,
}
