// What a safetensors file can hold.
import type { Fit, MetaValue, Tensor, WriteCapabilities } from '../../model/index.js'
import { byName } from '../../model/tensor-order.js'
import { tagByDType } from './dtypes.js'
import { indexMetadataKey } from './index-metadata.js'
import { metadataKey } from './structs.js'

/** The order that the reference library writes tensors in: by falling rank of the type, then by name. */
export const inFileOrder = (tensors: readonly Tensor[]): readonly Tensor[] =>
  byName(
    tensors,
    ({ name }) => name,
    ({ dtype }) => -(tagByDType.get(dtype.id)?.rank ?? -1),
  )

export const writeCapabilities: WriteCapabilities = {
  order: 'row',
  sorts: { tensors: inFileOrder, metadata: true },
  shards: true,
  folder: true,
  tensor(tensor: Tensor): Fit<Tensor> {
    const tag = tagByDType.get(tensor.dtype.id)
    if (!tag) return { fits: false, reason: `safetensors has no type for ${tensor.dtype.id}` }
    if (!tensor.data) return { fits: false, reason: 'safetensors cannot declare a tensor without data' }
    if (!fillsBytes(tensor.shape, tag.bits)) {
      const reason = `elements of ${tag.bits} bits must fill whole bytes in safetensors, [${tensor.shape.join(', ')}] do not`
      return { fits: false, reason }
    }
    if (tensor.name === metadataKey) return { fits: false, reason: `the name ${metadataKey} is reserved` }
    return { fits: true }
  },
  metadata(key: string, value: MetaValue): Fit<MetaValue> {
    if (key === indexMetadataKey) return { fits: false, reason: 'the key stands for the metadata of an index' }
    if (value.type === 'str' && !value.bytes) return { fits: true }
    return { fits: false, reason: 'safetensors metadata values are strings' }
  },
  part: () => ({ fits: false, reason: 'safetensors cannot store it' }),
}

/** Only the remainder of the count matters, and it cannot overflow. */
function fillsBytes(shape: readonly number[], bits: number): boolean {
  return (shape.reduce((count, dim) => (count * (dim % 8)) % 8, 1) * bits) % 8 === 0
}
