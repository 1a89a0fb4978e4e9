// A model is one file, or a set of them: which it is, the first file says.
import type { ByteSource } from '../../bytes/index.js'
import { type MetaValue, type Model, type Opened, type ReadContext, stowageKey } from '../../model/index.js'
import { check } from './check.js'
import { codes } from './codes.js'
import { quantizationVersionKey } from './fit.js'
import { type GgufFile, readFile } from './read.js'
import { isPlaceRight, modelOf, placeOf, readSet } from './split.js'
import { alignmentKey, architectureKey } from './structs.js'

/** Keys that say something about a model; those that follow from how the tensors are stored do not. */
const modelKey = /^(general|tokenizer)\./
const storageKeys = new Set<string>([alignmentKey, quantizationVersionKey])

export async function read(source: ByteSource, context: ReadContext): Promise<Opened> {
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
  return { model, check: (checking) => check(files, checking) }
}

function checkKeys(file: GgufFile, { report }: ReadContext): void {
  const architecture: MetaValue | undefined = file.metadata.get(architectureKey)
  if (architecture?.type === 'str') return
  const message = architecture
    ? `${architectureKey} is ${architecture.type}, not a string`
    : `${architectureKey} is missing`
  const code = codes['missing-architecture']
  const severity = isContainer(file) ? 'note' : code.severity
  report.report({ ...code, severity }, { offset: 0, path: 'metadata', message })
}

/** Whether the file just holds tensors: those of a model of another format, or of nothing that any program would run. */
function isContainer({ metadata, tensors }: GgufFile): boolean {
  if (tensors.length === 0 || metadata.has(architectureKey)) return false
  return metadata.has(stowageKey) || ![...metadata.keys()].some((key) => modelKey.test(key) && !storageKeys.has(key))
}

function checkQuantized({ tensors, metadata }: Model, { report }: ReadContext): void {
  const quantized = tensors.find((tensor) => tensor.dtype.kind === 'block')
  if (!quantized || metadata.has(quantizationVersionKey)) return
  const message = `${JSON.stringify(quantized.name)} is ${quantized.dtype.id}, but ${quantizationVersionKey} is missing`
  report.report(codes['missing-quantization-version'], { offset: 0, path: 'metadata', message })
}
