// The tensor index of a file that is written: what cannot be written is refused, and each tensor gets its place in the data section.
import { alignUp, encodeUtf8 } from '../../../bytes/index.js'
import { fnv1a32 } from '../../../digest/hasher.js'
import { type Code, failWith, writeCodes } from '../../../errors/index.js'
import type { Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import { descriptor, dtypeCode, maxRank } from '../structs.js'

const maxName = 0xffff
const ascii = /^[\0-\x7f]*$/

export interface PlannedIndex {
  readonly bytes: Uint8Array
  /** Where the data of each tensor begins in the data section. */
  readonly offsets: readonly number[]
  readonly dataSize: number
}

export function planIndex(tensors: readonly Tensor[], align: number, file: string): PlannedIndex {
  const lengths = tensors.map((tensor) => checkTensor(tensor, file))
  let nameAt = tensors.length * descriptor.size
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, nameAt))
  const view = new DataView(bytes.buffer)
  const offsets: number[] = []
  let dataSize = 0
  for (const [i, { name, dtype, shape, data }] of tensors.entries()) {
    const nameLength = lengths[i]!
    putName(name, bytes, nameAt)
    const offset = alignUp(dataSize, align)
    const [shape0 = 0, shape1 = 0, shape2 = 0, shape3 = 0] = shape
    descriptor.writeInto(view, i * descriptor.size, {
      nameHash: fnv1a32(bytes, nameAt, nameAt + nameLength),
      dtype: dtypeCode.get(dtype.id)!,
      ndim: shape.length,
      nameLength,
      shape0,
      shape1,
      shape2,
      shape3,
      dataOffset: BigInt(offset),
    })
    nameAt += nameLength
    offsets.push(offset)
    dataSize = offset + data!.byteLength
  }
  return { bytes, offsets, dataSize }
}

/** Fails when the tensor has no place in an index; otherwise the length of its name. */
function checkTensor({ name, dtype, shape, data }: Tensor, file: string): number {
  const refuse = (code: Code, message: string): never =>
    failWith(code, { file, path: `tensors[${JSON.stringify(name)}]`, message })
  if (!dtypeCode.has(dtype.id) || !data) {
    const message = data ? `there is no type for ${dtype.id}` : 'the tensor has no data'
    refuse(writeCodes['dtype-unsupported'], message)
  }
  const length = ascii.test(name) ? name.length : encodeUtf8(name).byteLength
  if (length < 1 || length > maxName)
    refuse(writeCodes['name-unsupported'], `a name of ${length} bytes; 1 to ${maxName} are possible`)
  if (shape.length < 1 || shape.length > maxRank || shape.some((dim) => dim < 1 || dim > 0xffffffff))
    refuse(codes['write-limit'], `the shape [${shape.join(', ')}] has no place here`)
  return length
}

/** Names are nearly always ASCII, and an encoder makes a buffer for each. */
function putName(name: string, bytes: Uint8Array, at: number): void {
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i)
    if (unit > 0x7f) {
      bytes.set(encodeUtf8(name), at)
      return
    }
    bytes[at + i] = unit
  }
}
