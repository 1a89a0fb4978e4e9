// Tensors whose bytes another element type cannot give back although it holds every value: a bool of 2, a ternary code that stands for
// nothing, bits behind the last element of a packed type. Only their bytes, kept as they are, come home unchanged. Few tensors are of such
// types, and of packed ones only the last bytes are looked at.
import { defaultWindow, elementsIn } from '../../bytes/index.js'
import type { DType } from '../../dtypes/index.js'
import { firstDifference } from '../../kernels/equal-bytes.js'
import type { Payload, Tensor, WriteCapabilities } from '../../model/index.js'

/** The positions of such tensors among those whose type the target does not have. */
export async function findStrayCodes(
  tensors: readonly Tensor[],
  write: WriteCapabilities,
  signal?: AbortSignal,
): Promise<ReadonlySet<number>> {
  const found = new Set<number>()
  for (const [i, tensor] of tensors.entries()) {
    if (!mayStray(tensor) || write.tensor(tensor).fits) continue
    if (await hasStrayCodes(tensor, tensor.data!, signal)) found.add(i)
  }
  return found
}

const typeOf = ({ encoding, dtype }: Tensor): DType => encoding ?? dtype

function mayStray(tensor: Tensor): boolean {
  const { hasStrayCodes, kind, codec, group } = typeOf(tensor)
  if (!tensor.data || !codec?.fromF64 || kind === 'block') return false
  return hasStrayCodes === true || elementsIn(tensor.shape)! % group.elements !== 0
}

async function hasStrayCodes(tensor: Tensor, data: Payload, signal?: AbortSignal): Promise<boolean> {
  const type = typeOf(tensor)
  const { elements, bytes } = type.group
  const count = elementsIn(tensor.shape)!
  if (!type.hasStrayCodes && data.read) {
    const whole = Math.floor(count / elements) * bytes
    return !comesBack(type, await data.read(whole, data.byteLength - whole, signal), count % elements)
  }
  let left = count
  for await (const chunk of data.chunks(defaultWindow - (defaultWindow % bytes), signal)) {
    const here = Math.min(left, Math.ceil(chunk.byteLength / bytes) * elements)
    if (!comesBack(type, chunk, here)) return true
    left -= here
  }
  return false
}

function comesBack({ codec }: DType, bytes: Uint8Array, count: number): boolean {
  const values = new Float64Array(count)
  codec!.toF64(bytes, values)
  const again = new Uint8Array(bytes.byteLength)
  return codec!.fromF64!(values, again) < 0 && firstDifference(again, bytes) < 0
}
