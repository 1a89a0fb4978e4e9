import type { Format, MetaValue, Model, ReadContext } from '../../model/index.js'
import { check, rememberFiles } from './check.js'
import { codes } from './codes.js'
import { editInPlace } from './edit-in-place.js'
import { quantizationVersionKey, writeCapabilities, writeFor } from './fit.js'
import { layout } from './layout.js'
import { type GgufFile, magic, readFile } from './read.js'
import { slackOption } from './slack.js'
import { isPlaceRight, modelOf, parseShardName, placeOf, readSet } from './split.js'

const extension = '.gguf'
const architectureKey = 'general.architecture'
/** The part of a model that turns images or sound into tokens, and statistics for quantizing, are published beside it. */
const helpers = /(^|[-_.])(mmproj|imatrix)(?=[-_.])/i

export const gguf: Format = {
  id: 'gguf',
  title: 'GGUF',
  extensions: [extension],
  capabilities: { checksums: 'none', usual: { version: '3' }, write: writeCapabilities, writeFor },
  codes,
  mends:
    'of a cut file the whole tensors, once metadata and the list of tensors are there; of a split set those in the files that are left',

  detect(head, name) {
    if (magic.every((byte, i) => head[i] === byte)) return 'yes'
    return name.toLowerCase().endsWith(extension) ? 'maybe' : 'no'
  },

  /** The only file, or the first of the only set; what goes with a model does not count beside it. */
  mainFile(names) {
    const files = names.filter((name) => name.toLowerCase().endsWith(extension))
    const mains = files.filter((name) => (parseShardName(name)?.no ?? 0) === 0)
    const models = mains.length > 1 ? mains.filter((name) => !helpers.test(name)) : mains
    return models.length === 1 ? models[0] : undefined
  },

  async read(source, context) {
    const first = await readFile(source, context)
    const place = placeOf(first.metadata)
    const isInSet = place !== undefined && isPlaceRight(first, place, context)
    if (place && place.no > 0) {
      const message = `this is file ${place.no + 1} of ${place.count}`
      context.report.report(codes['later-shard'], { offset: 0, path: 'split.no', message })
    } else checkKeys(first, context)
    const isFirst = isInSet && place.no === 0
    const files = isFirst ? await readSet(first, place, context) : [first]
    const model = modelOf(files, files.length > 1 || (isFirst && context.onLost !== undefined))
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
