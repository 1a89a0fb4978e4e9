// The tensor index of a file that is written. For a million tensors it has tens of megabytes, so it is made in pieces, when they are asked for;
// before that, one pass finds out what cannot be written and how long everything is.
import { alignUp, encodeUtf8 } from '../../../bytes/index.js'
import { fnv1a32 } from '../../../digest/fnv1a.js'
import { type Code, failWith, writeCodes } from '../../../errors/index.js'
import { madeSlot, type Slot, type Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import { descriptor, dtypeCode, maxRank } from '../structs.js'

/** So many tensors make a piece. */
const pieceCount = 4096
const longestName = 0xffff
const ascii = /^[\0-\x7f]*$/

export interface PlannedIndex {
  readonly size: number
  readonly slots: () => Generator<Slot, void, void>
  /** Where the data of each tensor begins in the data section. */
  readonly offsets: Float64Array
  readonly dataSize: number
}

export function planIndex(tensors: readonly Tensor[], align: number, file: string): PlannedIndex {
  const offsets = new Float64Array(tensors.length)
  const nameBytes = new Float64Array(Math.ceil(tensors.length / pieceCount))
  let dataSize = 0
  let size = tensors.length * descriptor.size
  for (const [i, tensor] of tensors.entries()) {
    const length = checkTensor(tensor, file)
    nameBytes[Math.floor(i / pieceCount)]! += length
    size += length
    offsets[i] = alignUp(dataSize, align)
    dataSize = offsets[i]! + tensor.data!.byteLength
  }
  const slots = function* (): Generator<Slot, void, void> {
    for (const piece of nameBytes.keys()) {
      const from = piece * pieceCount
      const count = Math.min(pieceCount, tensors.length - from)
      yield madeSlot('tensors', count * descriptor.size, () => descriptorsOf(tensors, offsets, from, count))
    }
    for (const [piece, length] of nameBytes.entries()) {
      const from = piece * pieceCount
      yield madeSlot('tensors', length, () => namesOf(tensors, from, length))
    }
  }
  return { size, slots, offsets, dataSize }
}

/** Fails when the tensor has no place in an index; otherwise the length of its name. */
function checkTensor(tensor: Tensor, file: string): number {
  const { name, dtype, shape, data } = tensor
  const refuse = (code: Code, message: string): never =>
    failWith(code, { file, path: `tensors[${JSON.stringify(name)}]`, message })
  if (!dtypeCode.has(dtype.id) || !data) {
    const message = data ? `there is no type for ${dtype.id}` : 'the tensor has no data'
    refuse(writeCodes['dtype-unsupported'], message)
  }
  const length = ascii.test(name) ? name.length : encodeUtf8(name).byteLength
  if (length < 1 || length > longestName)
    refuse(writeCodes['name-unsupported'], `a name of ${length} bytes; 1 to ${longestName} are possible`)
  if (shape.length < 1 || shape.length > maxRank || shape.some((dim) => dim < 1 || dim > 0xffffffff))
    refuse(codes['write-limit'], `the shape [${shape.join(', ')}] has no place here`)
  return length
}

function descriptorsOf(tensors: readonly Tensor[], offsets: Float64Array, from: number, count: number): Uint8Array {
  const bytes = new Uint8Array(count * descriptor.size)
  const view = new DataView(bytes.buffer)
  const encoded = new Uint8Array(longestName)
  for (let i = 0; i < count; i++) {
    const { name, dtype, shape } = tensors.at(from + i)!
    const nameLength = putName(name, encoded, 0)
    const [shape0 = 0, shape1 = 0, shape2 = 0, shape3 = 0] = shape
    descriptor.writeInto(view, i * descriptor.size, {
      nameHash: fnv1a32(encoded, 0, nameLength),
      dtype: dtypeCode.get(dtype.id)!,
      ndim: shape.length,
      nameLength,
      shape0,
      shape1,
      shape2,
      shape3,
      dataOffset: BigInt(offsets[from + i]!),
    })
  }
  return bytes
}

/** The names from number `from` on that take `length` bytes together. */
function namesOf(tensors: readonly Tensor[], from: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let at = 0
  for (let i = from; at < length; i++) at += putName(tensors.at(i)!.name, bytes, at)
  return bytes
}

/** Names are plain ASCII nearly always, and there can be a million of them. */
function putName(name: string, bytes: Uint8Array, at: number): number {
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i)
    if (unit > 0x7f) {
      const encoded = encodeUtf8(name)
      bytes.set(encoded, at)
      return encoded.byteLength
    }
    bytes[at + i] = unit
  }
  return name.length
}
