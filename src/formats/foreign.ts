// Files of other kinds that lie about where models lie. Nobody reads them here, but a message that says what they are saves a search. They
// are known by their bytes; a name counts only together with bytes that agree with it. Adding one is one row.
import { decodeLossy, encodeUtf8 } from '../bytes/index.js'
import { guessMemberNames, startsLikeZip } from '../wire/zip/guess.js'
import { type Field, fieldsOf, isText } from './foreign-fields.js'

/** The beginning of a file, as rows look at it. */
interface Head {
  readonly bytes: Uint8Array
  /** The first bytes as text, without white space in front. */
  readonly text: string
  readonly name: string
  readonly size: number
}

interface Row {
  /** What it is, with its article. */
  readonly what: string
  readonly hint?: string
  is(head: Head): boolean
}

const unpack = 'unpack it, and open what is inside'

/** Whether these bytes, or the letters of this text, stand at `offset`. */
function at(offset: number, sign: string | readonly number[]): Row['is'] {
  const wanted = typeof sign === 'string' ? encodeUtf8(sign) : Uint8Array.from(sign)
  return ({ bytes }) => wanted.every((byte, i) => bytes[offset + i] === byte)
}

const anyOf =
  (...tests: readonly Row['is'][]): Row['is'] =>
  (head) =>
    tests.some((test) => test(head))

const says =
  (pattern: RegExp): Row['is'] =>
  ({ text }) =>
    pattern.test(text)

const members = ({ bytes }: Head): Set<string> => new Set(startsLikeZip(bytes) ? guessMemberNames(bytes) : [])

/** A table of FlatBuffers has no mark of its own: its first number leads to a place inside. */
const isFlatBuffer = ({ bytes, size }: Head): boolean => {
  const root = bytes.byteLength >= 8 ? new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) : 0
  return root >= 4 && root < size && root % 4 === 0
}

const topFields = ({ bytes, size }: Head): Field[] => [...fieldsOf(bytes, 0, Math.min(size, bytes.byteLength))]

/** A version, a description, and far behind in number one of the many kinds of model. */
function isCoreMl(head: Head): boolean {
  const [version, description, ...rest] = topFields(head)
  const isVersion = version?.number === 1 && version.value !== undefined && version.value > 0 && version.value < 100
  return isVersion && description?.number === 2 && rest.some(({ number }) => number >= 200 && number < 3000)
}

/** Version 1, then graphs with what TensorFlow says about them. */
function isSavedModel(head: Head): boolean {
  const [version, graph] = topFields(head)
  if (version?.number !== 1 || version.value !== 1 || graph?.number !== 2 || graph.start === undefined) return false
  return head.bytes[graph.start] === 0x0a && /serve|tensorflow|VarHandleOp|Placeholder/.test(textOf(head, 65_536))
}

/** Nodes, each with a name and an operation. */
function isTensorFlowGraph({ bytes }: Head): boolean {
  const [node] = fieldsOf(bytes, 0, bytes.byteLength)
  if (node?.number !== 1 || node.start === undefined) return false
  const [name, operation] = fieldsOf(bytes, node.start, node.end)
  return name?.number === 1 && operation?.number === 2 && isText(bytes, name) && isText(bytes, operation, /^[A-Z]\w+$/)
}

/** Layers, each with a name and a type, behind the name of the network. */
function isCaffe({ bytes }: Head): boolean {
  for (const layer of fieldsOf(bytes, 0, bytes.byteLength)) {
    if (layer.number !== 100 || layer.start === undefined) continue
    const [name, type] = fieldsOf(bytes, layer.start, layer.end)
    return name?.number === 1 && type?.number === 2 && isText(bytes, name) && isText(bytes, type, /^[A-Z]\w+$/)
  }
  return false
}

/** Words and how likely they are. */
function isSentencePiece({ bytes }: Head): boolean {
  const [piece] = fieldsOf(bytes, 0, bytes.byteLength)
  if (piece?.number !== 1 || piece.start === undefined) return false
  const [word, score] = fieldsOf(bytes, piece.start, piece.end)
  return word?.number === 1 && isText(bytes, word, /^<\w+>$/) && score?.number === 2 && score.isFixed
}

function isDarknet({ bytes, name, size }: Head): boolean {
  if (bytes.byteLength < 16 || size % 4 !== 0 || !/\.(weights|conv\.\d+)$/i.test(name)) return false
  const [major, minor, revision] = new Int32Array(bytes.slice(0, 12).buffer)
  return major === 0 && minor! >= 1 && minor! <= 9 && revision! >= 0 && revision! <= 99
}

const textOf = ({ bytes }: Head, length: number): string => decodeLossy(bytes.subarray(0, length))

const rows: readonly Row[] = [
  { what: 'an ONNX Runtime (ORT) model', hint: 'open the .onnx file that it was made from', is: at(4, 'ORTM') },
  { what: 'an ExecuTorch program', is: (head) => /^ET\d\d/.test(textOf(head, 8).slice(4)) },
  { what: 'an ExecuTorch data file', is: at(4, 'FT01') },
  {
    what: 'an HDF5 file with a user block in front',
    hint: 'take that off with h5unjam',
    is: (head) => isHiddenHdf5(head),
  },
  { what: 'a Core ML model', is: isCoreMl },
  { what: 'the manifest of a Core ML package', is: says(/^\{[\s\S]*"(itemInfoEntries|rootModelIdentifier)"/) },
  { what: 'a Caffe model', is: isCaffe },
  { what: 'a Caffe network in text form', is: says(/^(name|input|layers?)\s*[:{][\s\S]*\blayers?\s*\{/) },
  { what: 'a PaddlePaddle program', is: (head) => isPaddleProgram(head) },
  { what: 'a file of PaddlePaddle parameters', is: (head) => isPaddleParameters(head) },
  { what: 'an RKNN model', is: anyOf(at(0, 'RKNN'), at(0, 'CYPTRKNN')) },
  {
    what: 'an OpenVINO model',
    hint: 'its weights lie in the .bin file beside it',
    is: says(/^(<\?xml[^>]*>\s*)?<net\s/),
  },
  {
    what: 'an ncnn model',
    hint: 'its weights lie in the .bin file beside it',
    is: anyOf(says(/^7767517\s/), at(0, [0xdd, 0x85, 0x76, 0])),
  },
  { what: 'an MNN model', is: (head) => isFlatBuffer(head) && head.name.toLowerCase().endsWith('.mnn') },
  { what: 'a TensorRT engine', hint: 'open the model that it was built from', is: anyOf(at(0, 'ptrt'), at(0, 'ftrt')) },
  { what: 'a TensorFlow SavedModel', is: isSavedModel },
  { what: 'a TensorFlow graph', is: isTensorFlowGraph },
  { what: 'the index of a TensorFlow checkpoint', is: (head) => isCheckpointIndex(head) },
  { what: 'a note on which TensorFlow checkpoint is the latest', is: says(/^model_checkpoint_path\s*:/) },
  { what: 'a TensorFlow.js model', is: says(/^\{[\s\S]*"weightsManifest"\s*:/) },
  { what: 'a file of MXNet parameters', is: at(0, [0x12, 1, ...Array.from({ length: 14 }, () => 0)]) },
  { what: 'a file of Darknet weights', is: isDarknet },
  { what: 'a fastText model', is: at(0, [0xba, 0x16, 0x4f, 0x2f]) },
  { what: 'a SentencePiece vocabulary', is: isSentencePiece },
  { what: 'a gzip archive', hint: unpack, is: at(0, [0x1f, 0x8b, 8]) },
  { what: 'a 7-Zip archive', hint: unpack, is: at(0, [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]) },
  { what: 'an xz archive', hint: unpack, is: at(0, [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]) },
  { what: 'a Zstandard archive', hint: unpack, is: at(0, [0x28, 0xb5, 0x2f, 0xfd]) },
  { what: 'a bzip2 archive', hint: unpack, is: (head) => /^BZh[1-9]1AY&SY/.test(textOf(head, 10)) },
  { what: 'an LZ4 archive', hint: unpack, is: at(0, [0x04, 0x22, 0x4d, 0x18]) },
  { what: 'a RAR archive', hint: unpack, is: at(0, 'Rar!') },
  { what: 'a program or library (ELF)', is: at(0, [0x7f, 0x45, 0x4c, 0x46]) },
  { what: 'a WebAssembly module', is: at(0, [0, 0x61, 0x73, 0x6d]) },
  { what: 'a PDF document', is: at(0, '%PDF-') },
  { what: 'a PNG image', is: at(0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) },
  { what: 'a JPEG image', is: at(0, [0xff, 0xd8, 0xff]) },
  { what: 'a GIF image', is: at(0, 'GIF8') },
  { what: 'a SQLite database', is: at(0, 'SQLite format 3\0') },
  { what: 'a Parquet file', is: at(0, 'PAR1') },
  { what: 'an Arrow file', is: at(0, 'ARROW1') },
]

/** What files may be packed into that a format also looks into: only named where no format will try. */
const wrappers: readonly Row[] = [
  {
    what: 'a TorchServe archive without a model of PyTorch in it',
    is: (head) => members(head).has('MAR-INF/MANIFEST.json'),
  },
  { what: 'a zip archive', hint: unpack, is: ({ bytes }) => startsLikeZip(bytes) },
  { what: 'a tar archive', hint: unpack, is: at(257, 'ustar') },
]

/** Behind bytes of another program. */
const isHiddenHdf5 = anyOf(
  ...[512, 1024, 2048].map((offset) => at(offset, [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a])),
)

/** A block with the number 0 and no parent. */
function isPaddleProgram({ bytes }: Head): boolean {
  const [block] = fieldsOf(bytes, 0, bytes.byteLength)
  const sign = [8, 0, 0x10, ...Array.from({ length: 9 }, () => 0xff), 1]
  return block?.number === 1 && block.start !== undefined && sign.every((byte, i) => bytes[block.start! + i] === byte)
}

/** Three versions of 0, the length of a description of a type and dimensions, and that. */
function isPaddleParameters({ bytes }: Head): boolean {
  const length = bytes[16]!
  return (
    bytes.byteLength > 32 &&
    bytes.subarray(0, 16).every((byte) => byte === 0) &&
    length >= 4 &&
    length < 64 &&
    bytes.subarray(17, 20).every((byte) => byte === 0) &&
    bytes[20] === 8 &&
    bytes[21]! < 32 &&
    bytes[22] === 0x10
  )
}

/** The first entry of the table has no key and says how many files there are, and in which version. */
function isCheckpointIndex({ bytes }: Head): boolean {
  const [shared, own, length] = bytes
  if (shared !== 0 || own !== 0 || length === undefined || length < 2 || length > 32) return false
  const [count, ...rest] = fieldsOf(bytes, 3, 3 + length)
  const isWhole = [count, ...rest].at(-1)?.end === 3 + length
  return count?.number === 1 && count.value! > 0 && isWhole && rest.every(({ number }) => number <= 3)
}

export interface Foreign {
  readonly what: string
  readonly hint?: string
}

/** What other kind of file begins like this. With `isWanted`, a format will look into it if it is just a wrapper. */
export function foreignKind(bytes: Uint8Array, name: string, size: number, isWanted: boolean): Foreign | undefined {
  const text = decodeLossy(bytes.subarray(0, 4096))
    .replace(/^\ufeff/, '')
    .trimStart()
  const head: Head = { bytes, text, name, size }
  return rows.find(({ is }) => is(head)) ?? (isWanted ? undefined : wrappers.find(({ is }) => is(head)))
}

/** The same for a directory, by the names of the files in it. */
export function foreignDirectory(names: readonly string[]): Foreign | undefined {
  if (names.includes('saved_model.pb') || names.includes('saved_model.pbtxt'))
    return { what: 'a TensorFlow SavedModel' }
  if (names.includes('Manifest.json')) return { what: 'a Core ML package' }
  if (names.some((name) => /\.data-\d{5}-of-\d{5}$/.test(name))) return { what: 'a TensorFlow checkpoint' }
  return undefined
}

export const describeForeign = ({ what, hint }: Foreign): string =>
  `this is ${what}; tare does not read it${hint === undefined ? '' : `; ${hint}`}`
