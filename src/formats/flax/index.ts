import type { Format } from '../../model/index.js'
import { codes } from './codes.js'
import { holdsArray } from './detect.js'

const extension = /\.msgpack$/i
const published = ['flax_model.msgpack'] as const

export const flax: Format<'flax', typeof codes> = {
  id: 'flax',
  title: 'Flax',
  extensions: ['.msgpack'],
  capabilities: { checksums: 'none' },
  codes,
  repairs: 'from a cut file, the arrays before the cut; the output needs another format',
  detect(head, name, size) {
    if (holdsArray(head, size)) return 'yes'
    return extension.test(name) ? 'maybe' : 'no'
  },
  published,
  mainFile(names) {
    const known = published.find((name) => names.includes(name))
    if (known !== undefined) return known
    const files = names.filter((name) => extension.test(name))
    return files.length === 1 ? files[0] : undefined
  },
  load: () => import('./read.js'),
}
