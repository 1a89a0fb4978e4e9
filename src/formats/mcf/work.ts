// What is done with files of this format. Loaded when there is one: a command that opens a file needs one format, not ten.
import type { ByteSource } from '../../bytes/index.js'
import type { Model, ReadContext } from '../../model/index.js'
import { read as readFile } from './read.js'
import { readCut } from './salvage.js'

export { check } from './check.js'
export { editInPlace } from './edit-in-place.js'
export { layout } from './layout.js'
export { restorePart } from './restore-part.js'

export const read = (source: ByteSource, context: ReadContext): Promise<Model> =>
  (context.onLost ? readCut : readFile)(source, context)
