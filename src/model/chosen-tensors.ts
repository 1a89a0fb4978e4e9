// Tensors of another list, in its order, some of them left out and some replaced. Those that are as they were are only pointed at.
import { LazyList } from '../bytes/lazy-list.js'
import { NumberList } from '../bytes/number-list.js'
import { PackedTensors } from './packed-tensors.js'
import type { Tensor } from './tensor.js'
import type { TensorList } from './tensor-list.js'

export class ChosenTensors extends LazyList<Tensor> {
  readonly #base: TensorList
  readonly #others = new PackedTensors()
  /** A position in the list, or, below zero, one among the others: -1 is the first of them. */
  readonly #places = new NumberList(Int32Array)

  constructor(base: TensorList) {
    super()
    this.#base = base
  }

  get length(): number {
    return this.#places.length
  }

  /** The tensor that the list has there. */
  keep(position: number): void {
    this.#places.push(position)
  }

  /** One that the list does not have. */
  push(tensor: Tensor): void {
    this.#others.push(tensor)
    this.#places.push(-this.#others.length)
  }

  protected make(index: number): Tensor {
    const place = this.#places.at(index)
    return place < 0 ? this.#others.at(-place - 1)! : this.#base.at(place)!
  }
}
