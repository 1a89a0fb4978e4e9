import type { Format, MetaValue, Model, ReadContext } from '../../model/index.js'
import { check, rememberFiles } from './check.js'
import { codes } from './codes.js'
import { editInPlace } from './edit-in-place.js'
import { quantizationVersionKey, writeCapabilities, writeFor } from './fit.js'
import { layout } from './layout.js'
import { type GgufFile, magic, readFile } from './read.js'
import { slackOption } from './slack.js'
import { modelOf, parseShardName, placeOf, readSet } from './split.js'

const extension = '.gguf'
const architectureKey = 'general.architecture'

export const gguf: Format = {
  id: 'gguf',
  title: 'GGUF',
  extensions: [extension],
  capabilities: { checksums: 'none', usual: { version: '3' }, write: writeCapabilities, writeFor },
  codes,

  detect(head, name) {
    if (magic.every((byte, i) => head[i] === byte)) return 'yes'
    return name.toLowerCase().endsWith(extension) ? 'maybe' : 'no'
  },

  /** The only file, or the first of the only set. */
  mainFile(names) {
    const files = names.filter((name) => name.toLowerCase().endsWith(extension))
    const mains = files.filter((name) => (parseShardName(name)?.no ?? 0) === 0)
    return mains.length === 1 ? mains[0] : undefined
  },

  async read(source, context) {
    const first = await readFile(source, context)
    const place = placeOf(first.metadata)
    if (place && place.no > 0) {
      const message = `this is file ${place.no + 1} of ${place.count}`
      context.report.report(codes['later-shard'], { offset: 0, path: 'split.no', message })
    } else checkKeys(first, context)
    const files = place?.no === 0 ? await readSet(first, place, context) : [first]
    const model = modelOf(files)
    if (!place || place.no === 0) checkQuantized(model, context)
    return rememberFiles(model, files)
  },

  check,
  layout,
  editInPlace,
  options: {
    write: [
      {
        name: slackOption,
        argument: 'SIZE',
        kind: 'size',
        description: 'leave this much room in the index, so that later edits need not move the weights',
      },
    ],
  },
}

function checkKeys({ metadata }: GgufFile, { report }: ReadContext): void {
  const architecture: MetaValue | undefined = metadata.get(architectureKey)
  if (architecture?.type === 'str') return
  const message = architecture
    ? `${architectureKey} is ${architecture.type}, not a string`
    : `${architectureKey} is missing`
  report.report(codes['missing-architecture'], { offset: 0, path: 'metadata', message })
}

function checkQuantized({ tensors, metadata }: Model, { report }: ReadContext): void {
  const quantized = tensors.find((tensor) => tensor.dtype.kind === 'block')
  if (!quantized || metadata.has(quantizationVersionKey)) return
  const message = `${JSON.stringify(quantized.name)} is ${quantized.dtype.id}, but ${quantizationVersionKey} is missing`
  report.report(codes['missing-quantization-version'], { offset: 0, path: 'metadata', message })
}
