// Writing, with the header bytes of NumPy. In an archive every member is stored as it is and starts on a multiple of 64, and so do its
// elements, since a header is padded to 64; members keep the order of the tensors.
import { encodeUtf8 } from '../../bytes/index.js'
import { callerWord, failWith, usageCodes } from '../../errors/index.js'
import {
  type Layout,
  type Model,
  type Slot,
  slotsMadeBy,
  stowageKey,
  type Tensor,
  type WriteOptions,
} from '../../model/index.js'
import { npyDescription, npyHeaderOf } from '../../wire/npy/header.js'
import { layOutZip, type NewMembers, type ZipPiece } from '../../wire/zip/write.js'
import { maxComment } from '../../wire/zip/zip.js'
import { arrayCodes } from './codes.js'
import { extension, foreignDescr, memberKind, stowageFile } from './names.js'

export async function layoutFile(model: Model, options: WriteOptions): Promise<Layout> {
  const tensor = model.tensors.at(0)
  if (!tensor || model.tensors.length > 1) {
    const message = `there are ${model.tensors.length} tensors, an NPY file holds one; choose it with ${callerWord('--only', 'only')}, or write .npz`
    failWith(arrayCodes['one-array'], { file: options.name, path: 'tensors', message })
  }
  return { files: [{ name: options.name, slots: arraySlots(tensor, '', headerOf(tensor)) }] }
}

function headerOf(tensor: Tensor): Uint8Array {
  const { dtype, shape, order } = tensor
  // One dimension is the same in both orders; NumPy then writes fortran_order False.
  return npyHeaderOf(npyDescription(dtype.id) ?? foreignDescr(tensor)!, shape, order === 'column' && shape.length > 1)
}

/** Makes headers, and keeps them: a model has many tensors, but few types and shapes. */
function headerMaker(): (tensor: Tensor) => Uint8Array {
  const made = new Map<string, Uint8Array>()
  return (tensor) => {
    const { dtype, shape, order } = tensor
    const key = `${dtype.id} ${foreignDescr(tensor)} ${order} ${shape.join()}`
    const known = made.get(key)
    if (known) return known
    if (made.size >= maxKept) made.clear()
    const header = headerOf(tensor)
    made.set(key, header)
    return header
  }
}

const maxKept = 1024

function arraySlots(tensor: Tensor, prefix: string, header: Uint8Array): Slot[] {
  return [
    { kind: 'bytes', path: `${prefix}header`, bytes: header },
    { kind: 'payload', path: `${prefix}data`, payload: tensor.data! },
  ]
}

interface Content {
  readonly name: string
  readonly size: number
  readonly slots: readonly Slot[]
}

const defaultAlignment = 64
const maxAlignment = 32_768

export async function layoutArchive(model: Model, options: WriteOptions): Promise<Layout> {
  const alignment = options.align ?? defaultAlignment
  if (!Number.isInteger(alignment) || alignment < 1 || alignment > maxAlignment) {
    const message = `the alignment ${alignment} is not from 1 to ${maxAlignment}`
    failWith(usageCodes.option, { file: options.name, path: callerWord('--align', 'align'), message })
  }
  const { tensors } = model
  const { comment, member } = stowageOf(model)
  const others = [...otherMembers(model), ...(member ? [member] : [])]
  const headerFor = headerMaker()
  const sizeOf = (tensor: Tensor): number => headerFor(tensor).byteLength + tensor.data!.byteLength
  const otherAt = (i: number): Content => others[i - tensors.length]!
  const members: NewMembers = {
    count: tensors.length + others.length,
    nameAt: (i) => (i < tensors.length ? tensors[i]!.name + extension : otherAt(i).name),
    sizeAt: (i) => (i < tensors.length ? sizeOf(tensors[i]!) : otherAt(i).size),
  }
  const archive = layOutZip(members, alignment, comment)
  const slots = slotsMadeBy(function* () {
    for (let i = 0; i < members.count; i++) {
      for (const piece of archive.head(i)) yield slotOf(piece)
      if (i >= tensors.length) yield* otherAt(i).slots
      else yield* arraySlots(tensors[i]!, `members[${JSON.stringify(members.nameAt(i))}].`, headerFor(tensors[i]!))
    }
    for (const piece of archive.tail()) yield slotOf(piece)
  })
  return { files: [{ name: options.name, slots }] }
}

/** What no array can hold goes into the comment of the archive, which NumPy ignores, or into a member when it is too long for that. */
function stowageOf({ metadata }: Model): { readonly comment?: Uint8Array; readonly member?: Content } {
  const value = metadata.get(stowageKey)
  if (value?.type !== 'str') return {}
  const bytes = encodeUtf8(value.value)
  if (bytes.byteLength <= maxComment) return { comment: bytes }
  const path = `members[${JSON.stringify(stowageFile)}].data`
  return { member: { name: stowageFile, size: bytes.byteLength, slots: [{ kind: 'bytes', path, bytes }] } }
}

/** Members that are not arrays, of an archive that is written again. */
function otherMembers({ parts }: Model): Content[] {
  return parts.flatMap(({ kind, name, data }) => {
    if (kind !== memberKind || name === undefined || !data) return []
    const path = `members[${JSON.stringify(name)}].data`
    return [{ name, size: data.byteLength, slots: [{ kind: 'payload' as const, path, payload: data }] }]
  })
}

function slotOf(piece: ZipPiece): Slot {
  if (piece.kind === 'bytes') return piece
  const { path, covers } = piece
  return { kind: 'digest', path, algorithm: 'crc32', length: 4, covers: [covers], encode: reversed }
}

const reversed = (digest: Uint8Array): Uint8Array => digest.toReversed()
