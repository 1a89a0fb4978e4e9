// A model is one file, or a set of them: which it is, the first file says.
import type { ByteSource } from '../../bytes/index.js'
import type { MetaValue, Model, ReadContext } from '../../model/index.js'
import { rememberFiles } from './check.js'
import { codes } from './codes.js'
import { quantizationVersionKey } from './fit.js'
import { type GgufFile, readFile } from './read.js'
import { isPlaceRight, modelOf, placeOf, readSet } from './split.js'

const architectureKey = 'general.architecture'

export async function read(source: ByteSource, context: ReadContext): Promise<Model> {
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
