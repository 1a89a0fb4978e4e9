import type { Format } from '../../model/index.js'
import { writeCapabilities, writeFor } from './capabilities.js'
import { codes } from './codes.js'
import { magic } from './structs.js'

const extension = '.mcf'

export const mcf: Format<'mcf', typeof codes> = {
  id: 'mcf',
  title: 'MCF',
  extensions: [extension],
  capabilities: { checksums: 'none', defaults: { version: '1.1' }, write: writeCapabilities, writeFor },
  codes,
  repairs:
    'the directory; from a cut file, the complete tensors if the index is before the cut (writers put it near the end)',

  detect(head, name) {
    if (head.byteLength >= magic.byteLength && magic.every((byte, i) => head[i] === byte)) return 'yes'
    return name.toLowerCase().endsWith(extension) ? 'maybe' : 'no'
  },

  mainFile(names) {
    const files = names.filter((name) => name.toLowerCase().endsWith(extension))
    return files.length === 1 ? files[0] : undefined
  },

  options: {
    check: [
      {
        name: 'accept-int',
        description: 'accept int8 and int4 tensors, which no runtime but tare decodes',
      },
    ],
  },
  load: async () => (await import('./implementation.js')).mcf,
}
