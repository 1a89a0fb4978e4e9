// A tensor whose element type the target does not have is given another one: one that holds every value if there is any, else the
// nearest float, and then the loss is named. Blocks are decoded to what their format defines as their values, f32.
import { type DType, dtypeById, isReal } from '../../dtypes/index.js'
import type { Fit, Tensor, WriteCapabilities } from '../../model/index.js'
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

/** Another form of the tensor that the target takes, or undefined. */
export function adaptTensor(tensor: Tensor, write: WriteCapabilities): Adapted | undefined {
  const from = tensor.encoding ?? tensor.dtype
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
