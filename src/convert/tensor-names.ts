import { LazyList } from '../bytes/lazy-list.js'
import { NumberList } from '../bytes/number-list.js'
import type { TensorList } from '../model/index.js'

/** Names of the tensors of a list, or what they are to be called. */
export class TensorNames extends LazyList<string> {
  readonly #tensors: TensorList
  readonly #positions = new NumberList(Int32Array)
  /** Where they are others than the list has. */
  readonly #others = new Map<number, string>()

  constructor(tensors: TensorList) {
    super()
    this.#tensors = tensors
  }

  get length(): number {
    return this.#positions.length
  }

  /** The name of the tensor there, unless it gets another. */
  add(position: number, other?: string): void {
    if (other !== undefined) this.#others.set(this.length, other)
    this.#positions.push(position)
  }

  protected make(index: number): string {
    return this.#others.get(index) ?? this.#tensors.at(this.#positions.at(index))!.name
  }
}
