import type { Format } from '../../model/index.js'
import { codes } from './codes.js'
import { isMetadata, isPart, metadataName, partName } from './detect.js'

export const dcp: Format<'dcp', typeof codes> = {
  id: 'dcp',
  title: 'PyTorch distributed checkpoint',
  extensions: [metadataName, '.distcp'],
  capabilities: { checksums: 'all', companions: true },
  codes,
  repairs:
    'from a checkpoint whose files are cut, damaged or missing, the tensors whose chunks are all there and match their checksums; the output needs another format',

  detect(head, name) {
    return isMetadata(head, name) || isPart(head, name) ? 'yes' : 'no'
  },

  published: [metadataName],
  // Names that begin with a dot are not listed, so the directory is known by its other files.
  mainFile: (names) => (names.some((name) => partName.test(name)) ? metadataName : undefined),

  load: () => import('./read.js'),
}
