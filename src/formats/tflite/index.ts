import type { Format } from '../../model/index.js'
import { codes } from './codes.js'
import { hasMark } from './detect.js'

const extension = /\.tflite$/i

export const tflite: Format<'tflite', typeof codes> = {
  id: 'tflite',
  title: 'TensorFlow Lite',
  extensions: ['.tflite'],
  capabilities: { checksums: 'none' },
  codes,
  repairs: 'from a cut file with its tables, the tensors whose data are still there; the output needs another format',
  detect(head, name) {
    if (hasMark(head)) return 'yes'
    return extension.test(name) ? 'maybe' : 'no'
  },
  mainFile(names) {
    const files = names.filter((name) => extension.test(name))
    return files.length === 1 ? files[0] : undefined
  },
  load: () => import('./read.js'),
}
