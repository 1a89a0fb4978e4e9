import { LazyList } from '../bytes/lazy-list.js'
import { nameOrder } from '../bytes/name-order.js'
import type { Tensor } from './tensor.js'
import type { TensorList } from './tensor-list.js'

/** Tensors of another list, in another order. */
class OrderedTensors extends LazyList<Tensor> {
  readonly #tensors: TensorList
  readonly #order: Uint32Array

  constructor(tensors: TensorList, order: Uint32Array) {
    super()
    this.#tensors = tensors
    this.#order = order
  }

  get length(): number {
    return this.#order.length
  }

  protected make(index: number): Tensor {
    return this.#tensors.at(this.#order[index]!)!
  }
}

/** The tensors at these positions of a list. */
export const tensorsAt = (tensors: TensorList, positions: Uint32Array): TensorList =>
  new OrderedTensors(tensors, positions)

/** Tensors by the bytes of what they are called, those of a lower rank first; those that are called the same stay in their order. */
export function byName(
  tensors: TensorList,
  nameOf: (tensor: Tensor) => string | Uint8Array = ({ name }) => name,
  rankOf?: (tensor: Tensor) => number,
): TensorList {
  const order = nameOrder(
    tensors.length,
    (position) => nameOf(tensors.at(position)!),
    rankOf && ((position) => rankOf(tensors.at(position)!)),
  )
  return order ? tensorsAt(tensors, order) : tensors
}
