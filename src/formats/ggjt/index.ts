import type { Format } from '../../model/index.js'
import { codes } from './codes.js'
import { containerOf } from './containers.js'

export const ggjt: Format<'ggjt', typeof codes> = {
  id: 'ggjt',
  title: 'GGML (before GGUF)',
  extensions: ['.ggml', '.ggmlv3.bin'],
  capabilities: { checksums: 'none', openEnded: 'tensors' },
  codes,
  repairs: 'from a cut file, the tensors that are complete; the output needs another format',
  detect(head, name) {
    if (containerOf(head)) return 'yes'
    return name.toLowerCase().endsWith('.ggml') ? 'maybe' : 'no'
  },
  load: () => import('./read.js'),
}
