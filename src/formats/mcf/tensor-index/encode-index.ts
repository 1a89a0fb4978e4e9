// The TensorIndex as the reference writes it: entries in the order of names, one run of dimensions and one of name bytes per entry, tables
// one behind the other.
import { failWith, writeCodes } from '../../../errors/index.js'
import type { Tensor } from '../../../model/index.js'
import { codeOfDType } from '../dtypes.js'
import { flagSorted, flagUtf8, indexEntry, indexHeader } from '../structs.js'

const encoder = new TextEncoder()

/** The tensors are in the order of their names; `offsets` are where their data begin. */
export function encodeTensorIndex(tensors: readonly Tensor[], offsets: readonly number[]): Uint8Array {
  const dimsCount = tensors.reduce((sum, { shape }) => sum + shape.length, 0)
  const dimsOff = indexHeader.size + tensors.length * indexEntry.size
  const stringsOff = dimsOff + 8 * dimsCount
  const bytes = new Uint8Array(stringsOff + tensors.reduce((sum, tensor) => sum + maxNameBytes(tensor), 0))
  const view = new DataView(bytes.buffer)
  let [dimOff, nameOff] = [0, 0]
  for (const [i, tensor] of tensors.entries()) {
    const { shape, data } = tensor
    const nameLen = putName(tensor, bytes.subarray(stringsOff + nameOff))
    for (const [axis, dim] of shape.entries()) view.setBigUint64(dimsOff + 8 * (dimOff + axis), BigInt(dim), true)
    indexEntry.writeInto(view, indexHeader.size + i * indexEntry.size, {
      nameOff,
      nameLen,
      dtype: requireCode(tensor),
      rank: shape.length,
      dimOff,
      reserved: 0,
      dataOff: offsets[i]!,
      dataSize: data!.byteLength,
    })
    dimOff += shape.length
    nameOff += nameLen
  }
  indexHeader.writeInto(view, 0, {
    version: 1,
    flags: flagSorted + (tensors.some(({ rawName }) => rawName) ? 0 : flagUtf8),
    tensorCount: tensors.length,
    dimsCount,
    entriesOff: BigInt(indexHeader.size),
    dimsOff: BigInt(dimsOff),
    stringsOff: BigInt(stringsOff),
    stringsSize: BigInt(nameOff),
  })
  return bytes.subarray(0, stringsOff + nameOff)
}

/** A UTF-16 code unit takes up to three bytes of UTF-8. */
const maxNameBytes = ({ name, rawName }: Tensor): number => rawName?.[0]?.byteLength ?? 3 * name.length

/** Returns how many bytes the name takes. */
function putName({ name, rawName }: Tensor, target: Uint8Array): number {
  const raw = rawName?.[0]
  if (!raw) return encoder.encodeInto(name, target).written
  target.set(raw)
  return raw.byteLength
}

function requireCode({ dtype, name }: Tensor): number {
  const message = `MCF has no type for ${dtype.id}`
  return codeOfDType(dtype.id) ?? failWith(writeCodes['dtype-unsupported'], { file: '', path: name, message })
}
