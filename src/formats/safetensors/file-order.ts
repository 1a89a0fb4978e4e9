// The reference library's order: by falling rank of the type, then by name.
import type { TensorList } from '../../model/index.js'
import { sortedByName } from '../../model/sorted-tensors.js'
import { tagByDType } from './dtypes.js'

export const inFileOrder = (tensors: TensorList): TensorList =>
  sortedByName(tensors, ({ dtype }) => -(tagByDType.get(dtype.id)?.rank ?? -1))
