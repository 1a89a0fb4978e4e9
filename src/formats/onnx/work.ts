// What is done with files of this format. Loaded when there is one: a command that opens a file needs one format, not ten.
import type { ByteSource } from '../../bytes/index.js'
import { withCompanions } from '../../content/companions.js'
import type { Model, ReadContext } from '../../model/index.js'
import { collected, readModel } from './read.js'
import { readCut } from './salvage.js'

export { check } from './check.js'
export { editFile } from './edit-file.js'
export { layoutExport } from './export.js'

export async function read(source: ByteSource, context: ReadContext): Promise<Model> {
  const graph = await (context.onLost ? readCut : readModel)(source, context)
  const model = await withCompanions(graph, source, context)
  collected.set(model, collected.get(graph)!)
  return model
}
