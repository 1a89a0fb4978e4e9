// The order in which llama.cpp's converter meets tensors: files by name, and in each file tensors by name, by code points.
import { compareNames } from '../../bytes/name-order.js'
import type { Model, Tensor } from '../../model/index.js'

/** Files that have an order of their own keep it. */
export function inSourceOrder(model: Model, isSorted: boolean): Tensor[] {
  const groups = new Map<string, Tensor[]>()
  for (const tensor of model.tensors) {
    const file = tensor.data?.origin?.source.name ?? ''
    const group = groups.get(file)
    if (group) group.push(tensor)
    else groups.set(file, [tensor])
  }
  return [...groups.entries()]
    .sort(([a], [b]) => compareNames(a, b))
    .flatMap(([, tensors]) => (isSorted ? tensors.sort((a, b) => compareNames(a.name, b.name)) : tensors))
}
