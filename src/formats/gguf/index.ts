import type { Format } from '../../model/index.js'
import { writeCapabilities, writeFor } from './capabilities.js'
import { codes } from './codes.js'
import { parseShardName } from './split.js'
import { magic, slackOption } from './structs.js'

const extension = '.gguf'
/** Files that are published beside a model: the part that turns images or sound into tokens, and statistics for quantizing. */
const helpers = /(^|[-_.])(mmproj|imatrix)(?=[-_.])/i

export const gguf: Format<'gguf', typeof codes> = {
  id: 'gguf',
  title: 'GGUF',
  extensions: [extension],
  capabilities: {
    checksums: 'none',
    conventions: 'ggml',
    defaults: { version: '3' },
    write: writeCapabilities,
    writeFor,
  },
  codes,
  repairs:
    'from a cut file with its metadata and tensor list, the complete tensors; from a split set, those in the files that are left',

  detect(head, name) {
    if (magic.every((byte, i) => head[i] === byte)) return 'yes'
    return name.toLowerCase().endsWith(extension) ? 'maybe' : 'no'
  },

  /** The only file, or the first of the only set, not counting those helpers. */
  mainFile(names) {
    const files = names.filter((name) => name.toLowerCase().endsWith(extension))
    const mains = files.filter((name) => (parseShardName(name)?.no ?? 0) === 0)
    const models = mains.length > 1 ? mains.filter((name) => !helpers.test(name)) : mains
    return models.length === 1 ? models[0] : undefined
  },

  options: {
    write: [
      {
        name: slackOption,
        argument: 'SIZE',
        kind: 'size',
        description: 'leave this much room in the index, so that later edits need not move the weights',
      },
    ],
  },
  load: async () => (await import('./implementation.js')).gguf,
}
