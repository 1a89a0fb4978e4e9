// What is done with files of this format. Loaded when there is one: a command that opens a file needs one format, not ten.
import type { ByteSource } from '../../bytes/index.js'
import { withCompanions } from '../../content/companions.js'
import type { Model, ReadContext } from '../../model/index.js'
import { headSize, looksLikeIndex } from './detect.js'
import { withIndexMetadata } from './index-metadata.js'
import { readFile } from './read.js'
import { readIndex } from './read-index.js'

export { check } from './check.js'
export { editInPlace } from './edit-in-place.js'
export { layout } from './layout.js'

export async function read(source: ByteSource, context: ReadContext): Promise<Model> {
  const head = await source.read(0, Math.min(source.size, headSize), { signal: context.signal })
  const model = looksLikeIndex(head)
    ? await readIndex(source, context)
    : withIndexMetadata(await readFile(source, context))
  return withCompanions(model, source, context)
}
