// The order in which llama.cpp's converter meets tensors: files by name, and in each file tensors by name, by code points.
import { compareNames } from '../../bytes/name-order.js'
import type { Model, Tensor } from '../../model/index.js'

/** Files that have an order of their own keep it. */
export function inSourceOrder(model: Model, isSorted: boolean): Tensor[] {
  const groups = new Map<string, Tensor[]>()
  let file = ''
  for (const tensor of model.tensors) {
    // What is put together from a file, such as a view of a larger storage, has no range of it, but stands among its tensors.
    file = tensor.data?.origin?.source.name ?? file
    const group = groups.get(file)
    if (group) group.push(tensor)
    else groups.set(file, [tensor])
  }
  return [...groups.entries()]
    .sort(([a], [b]) => compareNames(a, b))
    .flatMap(([, tensors]) => (isSorted ? tensors.sort((a, b) => compareNames(a.name, b.name)) : tensors))
}
