import type { Format } from '../../model/index.js'
import { exchangeCapabilities, exportOptions, writeCapabilities } from './capabilities.js'
import { codes } from './codes.js'
import { looksLikeModel, textForm } from './detect.js'

const extension = '.onnx'
const published = [`model${extension}`] as const

export const onnx: Format<'onnx', typeof codes> = {
  id: 'onnx',
  title: 'ONNX',
  extensions: [extension],
  capabilities: {
    checksums: 'none',
    openEnded: true,
    companions: true,
    write: exchangeCapabilities,
    writeFor: writeCapabilities,
  },
  codes,
  repairs: 'from a cut file, the initializers before the cut',
  detect(head, name, size) {
    if (looksLikeModel(head, size) || textForm(head) !== undefined) return 'yes'
    return name.toLowerCase().endsWith(extension) ? 'maybe' : 'no'
  },
  published,
  mainFile(names) {
    const files = names.filter((name) => name.toLowerCase().endsWith(extension))
    return files.length === 1 ? files[0] : files.find((name) => name === published[0])
  },
  options: { write: exportOptions },
  load: async () => (await import('./implementation.js')).onnx,
}
