import type { Format } from '../../model/index.js'
import { check } from './check.js'
import { codes } from './codes.js'
import { looksLikeModel } from './detect.js'
import { exporter, exportOptions } from './export.js'
import { readModel } from './read.js'

const extension = '.onnx'

export const onnx: Format = {
  id: 'onnx',
  title: 'ONNX',
  extensions: [extension],
  capabilities: { checksums: 'none', openEnded: true },
  codes,
  detect(head, name, size) {
    if (looksLikeModel(head, size)) return 'yes'
    return name.toLowerCase().endsWith(extension) ? 'maybe' : 'no'
  },
  mainFile(names) {
    const files = names.filter((name) => name.toLowerCase().endsWith(extension))
    return files.length === 1 ? files[0] : undefined
  },
  read: readModel,
  check,
  exporter,
  options: { write: exportOptions },
}
