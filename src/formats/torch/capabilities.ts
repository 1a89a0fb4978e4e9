// What a file of PyTorch can hold: tensors of its types, and metadata of any type in a record of the archive.
import { quantizedStorages, torchTypes } from '../../content/torch-save/objects/types.js'
import type { Fit, Model, Tensor, WriteCapabilities } from '../../model/index.js'

/** The most that PyTorch's operations take. */
const maxDimensions = 64

function fitTensor({ dtype, shape, data }: Tensor): Fit<Tensor> {
  const type = torchTypes.get(dtype.id)
  if (!type) return { fits: false, reason: `PyTorch has no type for ${dtype.id}` }
  if (shape.length > maxDimensions) return { fits: false, reason: `PyTorch has at most ${maxDimensions} dimensions` }
  if (type.pack === 1) return { fits: true }
  const reason = `PyTorch keeps ${type.pack} elements of ${dtype.id} in one, so the last dimension must be a multiple of that`
  if (!data || shape.length === 0 || shape.at(-1)! % type.pack > 0) return { fits: false, reason }
  return { fits: true }
}

export const writeCapabilities: WriteCapabilities = {
  tensor: fitTensor,
  metadata: () => ({ fits: true }),
  part: () => ({ fits: false, reason: 'PyTorch has no place for it' }),
  order: 'row',
  shards: true,
  sharesPayloads: true,
  folder: true,
}

/** PyTorch's own class for one scale and zero point; other parameters have no place there. */
function isPlainQuant({ dtype, quant }: Pick<Tensor, 'dtype' | 'quant'>): boolean {
  if (!quant) return true
  const { scheme, axis, scales, zeroPoints } = quant
  const [zeroPoint] = zeroPoints ?? []
  return (
    quantizedStorages.has(dtype.id) &&
    scheme === 'asymmetric' &&
    axis === undefined &&
    scales.length === 1 &&
    zeroPoints?.length === 1 &&
    Number.isSafeInteger(zeroPoint) &&
    !Object.is(zeroPoint, -0)
  )
}

/** Some types exist for quantized tensors only. */
const fitQuantized = (tensor: Tensor): Fit<Tensor> =>
  tensor.quant && tensor.data && isPlainQuant(tensor) && tensor.shape.length <= maxDimensions
    ? { fits: true }
    : fitTensor(tensor)

/** Quantized tensors of PyTorch have one scale and one zero point. */
export function writeCapabilitiesFor({ tensors }: Pick<Model, 'tensors'>): WriteCapabilities {
  return tensors.every(isPlainQuant) ? { ...writeCapabilities, tensor: fitQuantized, quant: true } : writeCapabilities
}
