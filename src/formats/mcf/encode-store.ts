// TensorIndex and QuantInfo as the reference writes them: entries in the order of names, one run of dimensions and one of name bytes per
// entry, tables one behind the other.
import { methodOf, type QuantInfo } from '../../dtypes/mcf/types.js'
import { failWith, writeCodes } from '../../errors/index.js'
import type { Tensor, TensorList } from '../../model/index.js'
import { codeOfDType } from './dtypes.js'
import { flagSorted, flagUtf8, indexEntry, indexHeader, quantHeader, quantRecord } from './structs.js'

export function encodeTensorIndex(tensors: TensorList, offsets: ArrayLike<number>): Uint8Array {
  const { strings, lengths } = encodeNames(tensors)
  const dimsCount = tensors.reduce((sum, { shape }) => sum + shape.length, 0)
  const entriesOff = indexHeader.size
  const dimsOff = entriesOff + tensors.length * indexEntry.size
  const stringsOff = dimsOff + dimsCount * 8
  const bytes = new Uint8Array(stringsOff + strings.byteLength)
  const view = new DataView(bytes.buffer)
  bytes.set(strings, stringsOff)
  const isUtf8 = tensors.every(({ rawName }) => rawName === undefined)
  indexHeader.writeInto(view, 0, {
    version: 1,
    flags: flagSorted + (isUtf8 ? flagUtf8 : 0),
    tensorCount: tensors.length,
    dimsCount,
    entriesOff: BigInt(entriesOff),
    dimsOff: BigInt(dimsOff),
    stringsOff: BigInt(stringsOff),
    stringsSize: BigInt(strings.byteLength),
  })
  let dimOff = 0
  let nameOff = 0
  for (let i = 0; i < tensors.length; i++) {
    const tensor = tensors.at(i)!
    const nameLen = lengths[i]!
    const [dtype, rank] = [requireCode(tensor), tensor.shape.length]
    const [dataOff, dataSize] = [BigInt(offsets[i]!), BigInt(tensor.data!.byteLength)]
    const entry = { nameOff, nameLen, dtype, rank, dimOff, reserved: 0, dataOff, dataSize }
    indexEntry.writeInto(view, entriesOff + i * indexEntry.size, entry)
    for (let axis = 0; axis < rank; axis++)
      view.setBigUint64(dimsOff + (dimOff + axis) * 8, BigInt(tensor.shape[axis]!), true)
    dimOff += rank
    nameOff += nameLen
  }
  return bytes
}

/** All names one behind the other. */
function encodeNames(tensors: TensorList): { strings: Uint8Array; lengths: number[] } {
  const encoder = new TextEncoder()
  // UTF-8 takes at most three bytes for each unit of a string.
  const most = tensors.reduce((sum, { name, rawName }) => sum + (rawName?.[0]?.byteLength ?? 3 * name.length), 0)
  const strings = new Uint8Array(most)
  let end = 0
  const lengths = tensors.map(({ name, rawName }) => {
    const raw = rawName?.[0]
    if (raw) strings.set(raw, end)
    const length = raw ? raw.byteLength : encoder.encodeInto(name, strings.subarray(end)).written
    end += length
    return length
  })
  return { strings: strings.subarray(0, end), lengths }
}

function requireCode({ dtype, name }: Tensor): number {
  const message = `MCF has no type for ${dtype.id}`
  return codeOfDType(dtype.id) ?? failWith(writeCodes['dtype-unsupported'], { file: '', path: name, message })
}

/** One record per quantized tensor that has something to say. Without records there is no section, unless the file had an empty one. */
export function encodeQuantInfo(tensors: TensorList, evenEmpty: boolean): Uint8Array | undefined {
  const records = tensors.flatMap((tensor, tensorIndex) => {
    const method = methodOf(tensor.dtype.id)
    const info = tensor.extra?.quantInfo as QuantInfo | undefined
    return method && info ? [{ tensorIndex, method, info }] : []
  })
  if (records.length === 0 && !evenEmpty) return undefined
  const bytes = new Uint8Array(quantHeader.size + records.length * quantRecord.size)
  const view = new DataView(bytes.buffer)
  quantHeader.writeInto(view, 0, { version: 1, recordCount: records.length })
  for (const [i, { tensorIndex, method, info }] of records.entries()) {
    const isRaw = method.family === 'int'
    quantRecord.writeInto(view, quantHeader.size + i * quantRecord.size, {
      ...{ tensorIndex, method: method.code, domain: info.domain === 'activations' ? 1 : 0 },
      ...{ blockSize: isRaw ? 0 : 32, superSize: method.family === 'k' ? 256 : 0, reserved: new Uint8Array(6) },
      ...{ minClip: Number(info.minClip), maxClip: Number(info.maxClip) },
    })
  }
  return bytes
}
