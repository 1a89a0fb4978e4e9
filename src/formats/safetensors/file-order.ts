// The reference library's order: by falling rank of the type, then by name.
import type { Tensor } from '../../model/index.js'
import { byName } from '../../model/tensor-order.js'
import { tagByDType } from './dtypes.js'

export const inFileOrder = (tensors: readonly Tensor[]): readonly Tensor[] =>
  byName(
    tensors,
    ({ name }) => name,
    ({ dtype }) => -(tagByDType.get(dtype.id)?.rank ?? -1),
  )
