import { withCompanions } from '../../content/companions.js'
import type { Implementation } from '../../model/index.js'
import { check } from './check.js'
import { editFile } from './edit-file.js'
import { layoutExport } from './export.js'
import { collected, readModel } from './read.js'
import { readCut } from './salvage.js'

export const onnx: Implementation = {
  async read(source, context) {
    const graph = await (context.onLost ? readCut : readModel)(source, context)
    const model = await withCompanions(graph, source, context)
    collected.set(model, collected.get(graph)!)
    return { model, check: (checking) => check(model, checking) }
  },
  layout: layoutExport,
  editFile,
}
