import type { Implementation } from '../../model/index.js'
import { layoutArchive, layoutFile } from './layout.js'
import { memberKind } from './names.js'
import { readArchive } from './npz-read.js'
import { readFile } from './read.js'

export const npy: Implementation = {
  read: async (source, context) => ({ model: await readFile(source, context) }),
  layout: layoutFile,
}

export const npz: Implementation = {
  read: readArchive,
  layout: layoutArchive,
  restorePart: (part) => (part.kind === memberKind && part.name !== undefined && part.data ? part : undefined),
}
