// The tensors of a list in another order. What is kept is their positions.
import { LazyList } from '../bytes/lazy-list.js'
import { RecordReader, RecordWriter, textRoom } from '../bytes/record-blocks.js'
import { compareUtf8 } from '../bytes/text.js'
import type { Tensor } from './tensor.js'
import type { TensorList } from './tensor-list.js'

class TensorsAt extends LazyList<Tensor> {
  readonly #base: TensorList
  readonly #positions: Uint32Array

  constructor(base: TensorList, positions: Uint32Array) {
    super()
    this.#base = base
    this.#positions = positions
  }

  get length(): number {
    return this.#positions.length
  }

  protected make(index: number): Tensor {
    return this.#base.at(this.#positions[index]!)!
  }
}

/** The tensors at these positions of a list. */
export const tensorsAt = (base: TensorList, positions: Uint32Array): TensorList => new TensorsAt(base, positions)

/** By names, those of a lower rank first. The list itself when it is in that order; equal tensors stay as they come. */
export function sortedByName(tensors: TensorList, rankOf: (tensor: Tensor) => number = () => 0): TensorList {
  if (isSorted(tensors, rankOf)) return tensors
  const { length } = tensors
  const [ranks, places, positions] = [new Float64Array(length), new Float64Array(length), new Uint32Array(length)]
  // Strings of all names would take twice the memory.
  const names = new RecordWriter()
  for (const [i, tensor] of tensors.entries()) {
    ranks[i] = rankOf(tensor)
    places[i] = names.begin(textRoom(tensor.name))
    positions[i] = i
    names.text(tensor.name)
  }
  const reader = new RecordReader(names)
  positions.sort((a, b) => ranks[a]! - ranks[b]! || reader.compareTexts(places[a]!, places[b]!) || a - b)
  return tensorsAt(tensors, positions)
}

function isSorted(tensors: TensorList, rankOf: (tensor: Tensor) => number): boolean {
  let last: Tensor | undefined
  for (const tensor of tensors) {
    if (last && (rankOf(last) - rankOf(tensor) || compareUtf8(last.name, tensor.name)) > 0) return false
    last = tensor
  }
  return true
}
