// Writing, with the header bytes of NumPy. In an archive every member is stored as it is and starts on a multiple of 64, and so do its
// elements, since a header is padded to 64; members keep the order of the tensors.
import { encodeUtf8 } from '../../bytes/index.js'
import { failWith, usageCodes } from '../../errors/index.js'
import {
  type Layout,
  type Model,
  type Payload,
  type Slot,
  stowageKey,
  type Tensor,
  type WriteOptions,
} from '../../model/index.js'
import { npyDescription, npyHeaderOf } from '../../wire/npy-header.js'
import { mostComment } from '../../wire/zip.js'
import { layOutZip, type ZipPiece } from '../../wire/zip-write.js'
import { arrayCodes } from './codes.js'
import { extension, foreignDescr, memberKind } from './names.js'
import { stowageFile } from './npz-read.js'

export async function layoutFile(model: Model, options: WriteOptions): Promise<Layout> {
  const [tensor, ...others] = model.tensors
  if (!tensor || others.length > 0) {
    const message = `there are ${model.tensors.length} tensors, an NPY file holds one; choose it with --only, or write .npz`
    failWith(arrayCodes['one-array'], { file: options.name, path: 'tensors', message })
  }
  return { files: [{ name: options.name, slots: arraySlots(tensor, '', tensor.data!) }] }
}

function headerOf(tensor: Tensor): Uint8Array {
  const { dtype, shape, order } = tensor
  // What has one dimension is the same in both orders; NumPy then writes that it is not Fortran's.
  return npyHeaderOf(npyDescription(dtype.id) ?? foreignDescr(tensor)!, shape, order === 'column' && shape.length > 1)
}

function arraySlots(tensor: Tensor, prefix: string, payload: Payload): Slot[] {
  return [
    { kind: 'bytes', path: `${prefix}header`, bytes: headerOf(tensor) },
    { kind: 'payload', path: `${prefix}data`, payload },
  ]
}

interface Content {
  readonly name: string
  readonly size: number
  readonly slots: readonly Slot[]
}

const defaultAlignment = 64
const mostAlignment = 32_768

export async function layoutArchive(model: Model, options: WriteOptions): Promise<Layout> {
  const alignment = options.align ?? defaultAlignment
  if (!Number.isInteger(alignment) || alignment < 1 || alignment > mostAlignment) {
    const message = `the alignment ${alignment} is not from 1 to ${mostAlignment}`
    failWith(usageCodes.option, { file: options.name, path: '--align', message })
  }
  const { comment, member } = stowageOf(model)
  const contents = [...model.tensors.map(arrayContent), ...otherMembers(model), ...(member ? [member] : [])]
  const { heads, tail } = layOutZip(contents, alignment, comment)
  const slots = contents.flatMap((content, i) => [...heads[i]!.map(slotOf), ...content.slots])
  return { files: [{ name: options.name, slots: [...slots, ...tail.map(slotOf)] }] }
}

function arrayContent(tensor: Tensor): Content {
  const name = tensor.name + extension
  const payload = tensor.data!
  const slots = arraySlots(tensor, `members[${JSON.stringify(name)}].`, payload)
  return { name, size: headerOf(tensor).byteLength + payload.byteLength, slots }
}

/** What has no other place lies in the comment of the archive, which NumPy does not look at, or in a member when it is too long for that. */
function stowageOf({ metadata }: Model): { readonly comment?: Uint8Array; readonly member?: Content } {
  const value = metadata.get(stowageKey)
  if (value?.type !== 'str') return {}
  const bytes = encodeUtf8(value.value)
  if (bytes.byteLength <= mostComment) return { comment: bytes }
  const path = `members[${JSON.stringify(stowageFile)}].data`
  return { member: { name: stowageFile, size: bytes.byteLength, slots: [{ kind: 'bytes', path, bytes }] } }
}

/** Members that are no arrays, of an archive that is written again. */
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
  return {
    kind: 'digest',
    path,
    algorithm: 'crc32',
    length: 4,
    covers: [covers],
    encode: (digest) => digest.toReversed(),
  }
}
