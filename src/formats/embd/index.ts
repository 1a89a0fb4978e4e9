// EMBD, the weight files of the cpp_embedder library: the sectioned layout of its document and the stream layout of its programs.
import type { Format } from '../../model/index.js'
import { sectioned, writeFor } from './capabilities.js'
import { codes } from './codes.js'
import { specialIdsOption } from './special-ids.js'
import { magic, requiredKeys } from './structs.js'

export const embd: Format<'embd', typeof codes> = {
  id: 'embd',
  title: 'EMBD',
  extensions: ['.weights'],
  capabilities: {
    checksums: 'all',
    defaults: { version: '1.0', variant: 'sectioned' },
    requiredKeys,
    write: sectioned,
    writeFor,
  },
  codes,
  repairs:
    'checksums, sizes and tables that follow from the rest; from a cut file, the complete tensors, if it has its index or the stream layout',

  detect(head, name) {
    const same = magic.filter((byte, i) => head[i] === byte).length
    if (same === magic.byteLength) return 'yes'
    // The extensions alone say too little: `.bin` is anything, and other programs use `.weights` as well.
    const lower = name.toLowerCase()
    if (lower.endsWith('.weights')) return 'maybe'
    return lower.endsWith('.bin') && same === magic.byteLength - 1 ? 'maybe' : 'no'
  },

  options: {
    write: [
      {
        name: 'layout',
        argument: 'sectioned|stream',
        choices: ['sectioned', 'stream'],
        description:
          'the layout of the document, or the one that the reference library reads (default: as the source, or sectioned)',
      },
      {
        name: 'checksums',
        argument: 'on|off',
        choices: ['on', 'off'],
        description: 'whether a sectioned file gets checksums (default: as the source, or on)',
      },
      {
        name: 'heads',
        argument: 'N',
        kind: 'integer',
        description: 'num_attention_heads for the metadata; it cannot be seen in the weights',
      },
      {
        name: specialIdsOption,
        argument: 'pad=N,unk=N,…',
        description: 'ids of the special tokens pad, unk, cls, sep and mask; those that are left out are found by text',
      },
    ],
  },
  load: async () => (await import('./implementation.js')).embd,
}
