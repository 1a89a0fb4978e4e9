import type { Format } from '../../model/index.js'
import { writeFor } from './capabilities.js'
import { codes } from './codes.js'
import { looksLikeEntries } from './detect.js'

const extension = '.dat'

export const imatrix: Format<'imatrix', typeof codes> = {
  id: 'imatrix',
  title: 'imatrix',
  extensions: [extension],
  capabilities: { checksums: 'none', openEnded: true, writeFor },
  codes,
  repairs: 'nothing: a cut file cannot be completed',
  detect(head, name, size) {
    if (looksLikeEntries(head, size)) return 'yes'
    return name.toLowerCase().endsWith(extension) ? 'maybe' : 'no'
  },
  load: async () => (await import('./implementation.js')).imatrix,
}
