// The reference library's order: by falling rank of the type, then by name.
import { compareUtf8 } from '../../bytes/index.js'
import type { Tensor, TensorList } from '../../model/index.js'
import { tagByDType } from './dtypes.js'

export function inFileOrder(tensors: TensorList): Tensor[] {
  const rank = (tensor: Tensor): number => tagByDType.get(tensor.dtype.id)?.rank ?? -1
  return tensors.toSorted((a, b) => rank(b) - rank(a) || compareUtf8(a.name, b.name))
}
