// A GGUF file is an index and the data of the tensors. The index is: the letters GGUF, a version, the number of tensors, the number of
// metadata entries; the entries (key, type, value); the entries of the tensors. Integers are little-endian, or, in version 3, all
// big-endian: then the version's upper half has the digits. The letters are never swapped. A model is one file, or a set of them.
import { alignUp, type ByteSource, Cursor, decodeLossy, WindowReader } from '../../bytes/index.js'
import { type Model, type Opened, type Part, type ReadContext, stowageKey, type Tensor } from '../../model/index.js'
import { check } from './check.js'
import { checkMatrixIndex, checkMatrixValues } from './check-imatrix.js'
import { codes } from './codes.js'
import { readMetadata } from './metadata.js'
import { IndexParser } from './parse-index.js'
import { isPlaceRight, placeOf, readSet, splitKeys, withoutSplitKeys } from './split.js'
import {
  alignmentKey,
  architectureKey,
  counts,
  type Encoding,
  type GgufFile,
  isImatrix,
  magic,
  preamble,
  quantizationVersionKey,
  shortCounts,
  splitSlack,
} from './structs.js'
import { readTensors } from './tensors.js'

/** The first window, and the largest: an index can have a hundred megabytes, and the data behind it are not wanted. */
const minWindow = 65_536
const maxWindow = 32 << 20

/** Reads one file, and the rest of the set where it is the first of one. */
export async function read(source: ByteSource, context: ReadContext): Promise<Opened> {
  const first = await readFile(source, context)
  const place = first.metadata.has(splitKeys.count) ? placeOf(first.metadata) : undefined
  const isInSet = place !== undefined && isPlaceRight(first, place, context)
  if (place && place.no > 0) {
    const message = `this is file ${place.no + 1} of ${place.count}`
    context.report.report(codes['later-shard'], { offset: 0, path: 'split.no', message })
  } else checkArchitecture(first, context)
  const isFirst = isInSet && place.no === 0
  const files = isFirst ? await readSet(first, place, readFile, context) : [first]
  const model = modelOf(files, files.length > 1 || (isFirst && context.onLost !== undefined))
  if (!place || place.no === 0) checkQuantized(model, context)
  const isMatrix = isImatrix(model)
  if (isMatrix) checkMatrixIndex(model, context)
  return {
    model,
    async check(checking) {
      await check(files, checking)
      if (isMatrix) await checkMatrixValues(model, checking)
    },
  }
}

/** The model of one file or of a set. `isSet` is also true where only one file of a set is left. */
function modelOf(files: readonly GgufFile[], isSet = files.length > 1): Model {
  const [first] = files
  const tensors: readonly Tensor[] = isSet ? files.flatMap((file) => [...file.tensors]) : first!.tensors
  const split: Part = { kind: 'gguf.split', sharing: 'derived', value: { files: files.length } }
  const { metadata, parts: slack } = splitSlack(first!.metadata)
  const variant = isSet ? 'split' : first!.encoding.littleEndian ? undefined : 'big-endian'
  return {
    format: 'gguf',
    version: String(first!.encoding.version),
    ...(variant !== undefined && { variant }),
    metadata: isSet ? withoutSplitKeys(metadata) : metadata,
    tensors,
    parts: [...(isSet ? [split] : []), ...slack],
    files: files.map((file) => file.source),
  }
}

async function readFile(source: ByteSource, context: ReadContext): Promise<GgufFile> {
  const { report, extents, limits, signal } = context
  const end = Math.min(source.size, Math.max(minWindow, limits.indexBytes))
  const window = new WindowReader(source, { signal, end, min: minWindow, max: maxWindow, keep: true })

  // The letters and the version, which shows the byte order.
  await window.reach(0, Math.min(source.size, preamble.size))
  const encoding = readEncoding(window, context)
  const { littleEndian, lengthSize } = encoding

  // How many tensors and metadata entries there are.
  const header = lengthSize === 8 ? counts : shortCounts
  const start = preamble.size + header.size
  if (source.size < start) {
    const message = `a header of ${start} bytes was expected, the file has ${source.size}`
    report.fail(codes.truncated, { offset: source.size, path: 'tensor_count', needs: start, message })
  }
  await window.reach(0, start)
  const cursor = new Cursor(window.slice(0, start), report, { littleEndian, extents })
  cursor.seek(preamble.size)
  const { tensorCount, metadataKvCount } = header.read(cursor)

  // Where the entries are, what they say, and with their end the beginning of the data.
  const parser = new IndexParser(window, encoding, context)
  const index = await parser.parse(start, BigInt(metadataKvCount), BigInt(tensorCount))
  const { metadata, alignment } = readMetadata({ window, encoding }, index.entries, context)
  const dataStart = alignUp(index.end, alignment)
  const file = { window, encoding, context, alignment, indexEnd: index.end, dataStart }
  const tensors = readTensors(index.tensors, file)
  // Lists of the metadata are decoded when somebody asks for them; the entries of the tensors were.
  window.cutAt(index.tensors[0] ?? index.end)
  return { source, encoding, metadata, ...tensors }
}

function readEncoding({ source, view, bytes }: WindowReader, { report, extents }: ReadContext): Encoding {
  if (source.size < preamble.size || !magic.every((byte, i) => bytes[i] === byte))
    refuseMagic(bytes, source.size, report)
  const isSwapped = view.getUint32(4, true) > 0 && view.getUint16(4, true) === 0
  const cursor = new Cursor(bytes.subarray(0, preamble.size), report, { littleEndian: !isSwapped, extents })
  const { version } = preamble.read(cursor)
  const isKnown = isSwapped ? version === 3 : version >= 1 && version <= 3
  if (!isKnown) {
    const message = `version ${version}${isSwapped ? ' in big-endian order' : ''} does not exist`
    report.fail(codes.version, { offset: 4, length: 4, path: 'version', message })
  }
  if (version === 1)
    report.report(codes['old-version'], { offset: 4, length: 4, path: 'version', message: 'version 1' })
  return { version, littleEndian: !isSwapped, lengthSize: version === 1 ? 4 : 8 }
}

/** The earlier formats, as their first four bytes read. */
const predecessors = new Set(['lmgg', 'fmgg', 'tjgg', 'algg'])

function refuseMagic(bytes: Uint8Array, size: number, report: ReadContext['report']): never {
  const start = decodeLossy(bytes.subarray(0, 4))
  const place = { offset: 0, length: Math.min(4, size), path: 'magic' }
  if ('GGUF'.startsWith(start)) {
    const message = `a header of 24 bytes was expected, the file has ${size}`
    return report.fail(codes.truncated, { ...place, needs: 24, message })
  }
  const code = predecessors.has(start) ? codes.predecessor : codes.magic
  return report.fail(code, { ...place, message: `the file begins with ${JSON.stringify(start)}, not with "GGUF"` })
}

/** Keys that say something about a model; those that follow from how the tensors are stored do not. */
const modelKey = /^(general|tokenizer)\./
const storageKeys = new Set<string>([alignmentKey, quantizationVersionKey])

function checkArchitecture(file: GgufFile, { report }: ReadContext): void {
  const architecture = file.metadata.get(architectureKey)
  if (architecture?.type === 'str' || isImatrix(file)) return
  const message = architecture
    ? `${architectureKey} is ${architecture.type}, not a string`
    : `${architectureKey} is missing`
  const code = codes['missing-architecture']
  const severity = isContainer(file) ? 'note' : code.severity
  const metadataStart = 8 + 2 * file.encoding.lengthSize
  report.report({ ...code, severity }, { offset: metadataStart, path: 'metadata', message })
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
