import { compareNames } from '../bytes/name-order.js'
import type { Tensor } from './model.js'

/** Sorts by rank, then by the bytes of the names; tensors with the same name keep their order. */
export function byName(
  tensors: readonly Tensor[],
  nameOf: (tensor: Tensor) => string | Uint8Array = ({ name }) => name,
  rankOf: (tensor: Tensor) => number = () => 0,
): readonly Tensor[] {
  const compare = (a: Tensor, b: Tensor): number => rankOf(a) - rankOf(b) || compareNames(nameOf(a), nameOf(b))
  return tensors.every((tensor, i) => i === 0 || compare(tensors[i - 1]!, tensor) <= 0)
    ? tensors
    : tensors.toSorted(compare)
}

/** Whether both lists hold the same tensors in the same order. */
export const areSameTensors = (a: readonly Tensor[], b: readonly Tensor[]): boolean =>
  a === b || (a.length === b.length && a.every((tensor, i) => tensor === b[i]))
