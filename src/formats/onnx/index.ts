import { withCompanions } from '../../model/companions.js'
import type { Format } from '../../model/index.js'
import { check } from './check.js'
import { codes } from './codes.js'
import { looksLikeModel } from './detect.js'
import { exporter, exportOptions } from './export.js'
import { collected, readModel } from './read.js'
import { readCut } from './salvage.js'

const extension = '.onnx'
const published = [`model${extension}`] as const

export const onnx: Format = {
  id: 'onnx',
  title: 'ONNX',
  extensions: [extension],
  capabilities: { checksums: 'none', openEnded: true },
  codes,
  mends: 'of a cut file the initializers before the cut; into another format',
  detect(head, name, size) {
    if (looksLikeModel(head, size)) return 'yes'
    return name.toLowerCase().endsWith(extension) ? 'maybe' : 'no'
  },
  published,
  mainFile(names) {
    const files = names.filter((name) => name.toLowerCase().endsWith(extension))
    return files.length === 1 ? files[0] : files.find((name) => name === published[0])
  },
  async read(source, context) {
    const graph = await (context.onLost ? readCut : readModel)(source, context)
    const model = await withCompanions(graph, source, context)
    collected.set(model, collected.get(graph)!)
    return model
  },
  check,
  exporter,
  options: { write: exportOptions },
}
