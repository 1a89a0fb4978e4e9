// A delta is a safetensors file: each changed tensor is an entry of bytes, one zstd frame of the XOR with the base, and the metadata state a
// checksum of its new bytes under its name. That is the form of THUDM/slime and of ai-dynamo/modelexpress, where an index beside the
// file says which version it belongs to. What they do not state is in one more entry, `tare.delta`, described here: digests of both sides,
// what becomes of headers, and tensors that are new, renamed or of another size.
import { isPathBelow, toBase64 } from '../bytes/index.js'
import { failWith } from '../errors/index.js'
import {
  base64At,
  countAt,
  type Fields,
  hexAt,
  listAt,
  objectAt,
  oneOf,
  type Refuse,
  textAt,
} from '../wire/json/fields.js'
import { type ChecksumName, checksumNames } from './checksums.js'
import { deltaCodes } from './codes.js'

export const documentKey = 'tare.delta'
export const frameKey = 'tare.frame'
const form = 'tare 1'

/** How a tensor of the new model is made. */
export interface DeltaTensor {
  readonly name: string
  readonly length: number
  /** The tensor of the base that it is the XOR with; absent: it is stored as it is. */
  readonly from?: string | undefined
  /** The entry with the packed bytes; absent: the bytes are those of the base. */
  readonly key?: string | undefined
  /** Byte planes of elements of this many bytes. */
  readonly width?: number | undefined
  /** Digests of the tensor in the base and in the new model. */
  readonly base?: string | undefined
  readonly new: string
}

/** The bytes of a tensor in a file of the new model. */
export type DeltaCut = readonly [offset: number, length: number, tensor: string]

export interface DeltaFile {
  readonly name: string
  readonly size: number
  readonly digest: string
  /** Absent: as in the file of the base. */
  readonly cuts?: readonly DeltaCut[] | undefined
}

/** How everything that is not a tensor is made, from the same of the base. */
export interface DeltaFrame {
  readonly length: number
  readonly digest: string
  /** Absent: the base is not needed. */
  readonly base?: { readonly length: number; readonly digest: string } | undefined
  /** `base`: it is the same; `xor`: the XOR with it is stored; `middle`: what is between a common start and a common end. */
  readonly how: 'base' | 'xor' | 'middle'
  readonly prefix: number
  readonly suffix: number
  /** The packed bytes, unless they are an entry of their own. */
  readonly bytes?: Uint8Array | undefined
}

export interface DeltaDocument {
  readonly checksum: ChecksumName
  readonly base: { readonly format: string }
  readonly new: { readonly format: string; readonly files: readonly DeltaFile[] }
  readonly frame: DeltaFrame
  /** Those that changed, are new, or have another name. */
  readonly tensors: readonly DeltaTensor[]
  readonly removed: readonly string[]
}

const bytesOfDigest = 32

export const documentText = ({ frame, ...document }: DeltaDocument): string => {
  const { bytes, ...rest } = frame
  const inline = bytes && toBase64(bytes)
  return JSON.stringify({
    delta: form,
    digest: 'blake3',
    ...document,
    frame: { ...rest, ...(inline && { bytes: inline }) },
  })
}

/** Throws `delta/syntax` with the path of the field that is wrong. */
export function parseDocument(text: string, file: string): DeltaDocument {
  const refuse: Refuse = (path, message) =>
    failWith(deltaCodes.syntax, {
      file,
      offset: 0,
      path: path === '' ? documentKey : `${documentKey}.${path}`,
      message,
    })
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    return refuse('', `not JSON: ${(error as Error).message}`)
  }
  const root = objectAt(json, '', refuse)
  if (root.delta !== form) refuse('delta', `expected ${JSON.stringify(form)}; a newer version of tare may read it`)
  if (root.digest !== 'blake3') refuse('digest', 'expected "blake3"')
  const next = objectAt(root.new, 'new', refuse)
  const document = {
    checksum: oneOf(root.checksum, checksumNames, 'checksum', refuse),
    base: { format: textAt(objectAt(root.base, 'base', refuse).format, 'base.format', refuse) },
    new: {
      format: textAt(next.format, 'new.format', refuse),
      files: listAt(next.files, 'new.files', refuse).map((each, i) => fileAt(each, `new.files[${i}]`, refuse)),
    },
    frame: frameAt(objectAt(root.frame, 'frame', refuse), refuse),
    tensors: listAt(root.tensors, 'tensors', refuse).map((each, i) => tensorAt(each, `tensors[${i}]`, refuse)),
    removed: listAt(root.removed, 'removed', refuse).map((each, i) => textAt(each, `removed[${i}]`, refuse)),
  }
  if (document.new.files.length === 0) refuse('new.files', 'expected at least one file')
  const names = new Set(document.tensors.map(({ name }) => name))
  if (names.size !== document.tensors.length) refuse('tensors', 'a tensor is listed twice')
  return document
}

function fileAt(value: unknown, path: string, refuse: Refuse): DeltaFile {
  const { name, size, digest, cuts } = objectAt(value, path, refuse)
  const file = {
    name: textAt(name, `${path}.name`, refuse),
    size: countAt(size, `${path}.size`, refuse),
    digest: hexAt(digest, bytesOfDigest, `${path}.digest`, refuse),
  }
  if (!isPathBelow(file.name)) refuse(`${path}.name`, `${JSON.stringify(file.name)} leads out of the directory`)
  if (cuts === undefined) return file
  let reached = 0
  const list = listAt(cuts, `${path}.cuts`, refuse).map((each, i): DeltaCut => {
    const at = `${path}.cuts[${i}]`
    const [offset, length, tensor] = listAt(each, at, refuse)
    const cut = [countAt(offset, at, refuse), countAt(length, at, refuse), textAt(tensor, at, refuse)] as const
    if (cut[0] < reached || cut[0] + cut[1] > file.size)
      refuse(at, 'the range overlaps another, or the end of the file')
    reached = cut[0] + cut[1]
    return cut
  })
  return { ...file, cuts: list }
}

function tensorAt(value: unknown, path: string, refuse: Refuse): DeltaTensor {
  const { name, length, from, key, width, base, ...fields } = objectAt(value, path, refuse)
  if (from === undefined && key === undefined) refuse(path, 'a tensor comes from the base, from an entry, or from both')
  const size = countAt(length, `${path}.length`, refuse)
  const bytes = width === undefined ? undefined : countAt(width, `${path}.width`, refuse)
  if (bytes !== undefined && (![2, 4, 8].includes(bytes) || size % bytes !== 0))
    refuse(`${path}.width`, 'expected 2, 4 or 8')
  return {
    name: textAt(name, `${path}.name`, refuse),
    length: size,
    ...(from !== undefined && { from: textAt(from, `${path}.from`, refuse) }),
    ...(key !== undefined && { key: textAt(key, `${path}.key`, refuse) }),
    ...(bytes !== undefined && { width: bytes }),
    ...(base !== undefined && { base: hexAt(base, bytesOfDigest, `${path}.base`, refuse) }),
    new: hexAt(fields.new, bytesOfDigest, `${path}.new`, refuse),
  }
}

function frameAt(fields: Fields, refuse: Refuse): DeltaFrame {
  const length = countAt(fields.length, 'frame.length', refuse)
  const prefix = countAt(fields.prefix, 'frame.prefix', refuse)
  const suffix = countAt(fields.suffix, 'frame.suffix', refuse)
  const how = oneOf(fields.how, ['base', 'xor', 'middle'], 'frame.how', refuse)
  const base = fields.base === undefined ? undefined : objectAt(fields.base, 'frame.base', refuse)
  const known = base && {
    length: countAt(base.length, 'frame.base.length', refuse),
    digest: hexAt(base.digest, bytesOfDigest, 'frame.base.digest', refuse),
  }
  if (how !== 'middle' && known?.length !== length)
    refuse('frame.base', `expected the frame of the base, of ${length} bytes`)
  if (prefix + suffix > Math.min(length, known?.length ?? 0)) refuse('frame.prefix', 'more bytes than there are')
  return {
    ...{ length, prefix, suffix, how },
    digest: hexAt(fields.digest, bytesOfDigest, 'frame.digest', refuse),
    ...(known && { base: known }),
    ...(fields.bytes !== undefined && { bytes: base64At(fields.bytes, 'frame.bytes', refuse) }),
  }
}
