import type { Format } from '../../model/index.js'
import { codes } from './codes.js'
import { detect, weightsName } from './detect.js'

const published = [weightsName, 'tf_model.h5'] as const

export const keras: Format<'keras', typeof codes> = {
  id: 'keras',
  title: 'Keras',
  extensions: ['.keras', '.weights.h5', '.h5', '.hdf5'],
  capabilities: { checksums: 'all', companions: true },
  codes,
  repairs:
    'from a cut or damaged file, the tensors that are still there in full; those of a .keras file only if their checksum matches; the output needs another format',
  detect,
  published,
  mainFile(names) {
    const known = published.find((name) => names.includes(name))
    if (known !== undefined) return known
    for (const ending of [/\.keras$/i, /\.h5$/i, /\.hdf5$/i]) {
      const files = names.filter((name) => ending.test(name))
      if (files.length > 0) return files.length === 1 ? files[0] : undefined
    }
    return undefined
  },
  load: () => import('./read.js'),
}
