// A tensor whose element type the target does not have is given another one: one that holds every value if there is any, else the
// nearest float, and then the loss is named. Blocks are decoded to what their format defines as their values, f32.

import { defaultWindow, elementsIn } from '../../bytes/index.js'
import { type DType, dtypeById, isReal } from '../../dtypes/index.js'
import { firstDifference } from '../../kernels/equal-bytes.js'
import type { Fit, Payload, Tensor, WriteCapabilities } from '../../model/index.js'
import { castLoss, castTensor } from '../../transforms/cast.js'

export interface Adapted {
  readonly tensor: Tensor
  readonly fit: Fit<Tensor>
  readonly action: 'cast' | 'dequantize'
  readonly loss: 'none' | 'precision'
  readonly from: string
  readonly to: string
}

/** From small to large; the first that holds every value is taken. */
const candidates = [
  'u8',
  'i8',
  'f8_e5m2',
  'f16',
  'bf16',
  'u16',
  'i16',
  'f32',
  'u32',
  'i32',
  'f64',
  'u64',
  'i64',
  'c128',
  'c64',
]
/** When nothing holds every value: what comes nearest. */
const nearest: Readonly<Record<string, readonly string[]>> = { float: ['f64', 'f32', 'f16', 'bf16'], complex: ['c64'] }

const typeOf = ({ encoding, dtype }: Tensor): DType => encoding ?? dtype

/** Another form of the tensor that the target takes, or undefined. */
export function adaptTensor(tensor: Tensor, write: WriteCapabilities): Adapted | undefined {
  const from = typeOf(tensor)
  if (!tensor.data) return undefined
  const isBlock = from.kind === 'block'
  // Codes whose scale is lost have no values.
  if (from.regions?.refusal(tensor.shape, tensor.data.byteLength)) return undefined
  if (!isBlock && !isReal(from) && from.kind !== 'complex') return undefined
  const asked = isBlock ? ['f32', 'f16', 'bf16'] : [...inOrderFor(from), ...(nearest[from.kind] ?? [])]
  for (const [i, id] of asked.entries()) {
    const to = dtypeById(id)
    if (!to || to.id === from.id || isWrongKind(from, to)) continue
    const loss = castLoss(from, to)
    if (loss !== 'none' && !isBlock && i < candidates.length) continue
    const fit = write.tensor({ ...tensor, dtype: to, encoding: undefined })
    if (!fit.fits) continue
    const changed = castTensor(tensor, to)
    return {
      tensor: changed,
      fit: write.tensor(changed),
      action: isBlock ? 'dequantize' : 'cast',
      loss,
      from: from.id,
      to: id,
    }
  }
  return undefined
}

/** Integers stay integers while any integer type holds them. */
function inOrderFor(from: DType): readonly string[] {
  if (!isWhole(from)) return candidates
  const isWholeId = (id: string): boolean => isWhole(dtypeById(id)!)
  return [...candidates.filter(isWholeId), ...candidates.filter((id) => !isWholeId(id))]
}

const isWhole = (dtype: DType): boolean => dtype.kind === 'int' || dtype.kind === 'uint'

/** Floats stay floats; what a boolean is should not become a number. */
function isWrongKind(from: DType, to: DType): boolean {
  if (from.kind === 'complex' || to.kind === 'complex') return from.kind !== to.kind
  if (from.kind === 'float' || from.kind === 'block') return isWhole(to)
  return from.kind === 'bool' && to.kind !== 'uint' && to.kind !== 'int'
}

// Tensors whose bytes another element type cannot give back although it holds every value: a bool of 2, a ternary code that stands for
// nothing, bits after the last element of a packed type. Only their bytes, kept as they are, come back unchanged. Few tensors are of such
// types, and of packed ones only the last bytes are looked at.

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
