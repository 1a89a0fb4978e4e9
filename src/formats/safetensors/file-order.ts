// The reference library's order: by falling rank of the type, then by name.
import type { TensorList } from '../../model/index.js'
import { byName } from '../../model/ordered-tensors.js'
import { tagByDType } from './dtypes.js'

export const inFileOrder = (tensors: TensorList): TensorList =>
  byName(
    tensors,
    ({ name }) => name,
    ({ dtype }) => -(tagByDType.get(dtype.id)?.rank ?? -1),
  )
