// Which of the tensors and values of a checkpoint are in a model that was made from it, and whether they are still the same.
import type { Tree } from '../../../content/torch-save/tree.js'
import type { Metadata, MetaValue, Model, Payload, Tensor } from '../../../model/index.js'
import { isSameRange } from '../../../model/payload.js'
import { compareMeta } from '../../../model/same-meta.js'

/** Whether the bytes that stand for the tensor in the file can stay. */
export function isUnchanged(old: Tensor, now: Tensor): boolean {
  const { data: before } = old
  const { data: after } = now
  const hasSameData = before && after ? before === after || isSameRange(before, after) : before === after
  return (
    hasSameData &&
    old.dtype === now.dtype &&
    old.order === now.order &&
    old.shape.length === now.shape.length &&
    old.shape.every((dim, i) => dim === now.shape[i]) &&
    JSON.stringify(old.quant) === JSON.stringify(now.quant)
  )
}

export const isSameValue = (a: MetaValue | undefined, b: MetaValue | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && compareMeta(a, b).sameness === 'same')

/** Whether the model is what the file holds, in the same order. */
export function isWhole({ tensors, metadata }: Tree, model: Model): boolean {
  return (
    tensors.length === model.tensors.length &&
    tensors.every((tensor, i) => {
      const now = model.tensors[i]!
      const isNamed = tensor.name === now.name || (tensor.isNamedByFile && now.isNamedByFile)
      return isNamed && isUnchanged(tensor, now)
    }) &&
    isSameMetadata(metadata, model.metadata)
  )
}

const isSameMetadata = (a: Metadata, b: Metadata): boolean =>
  a.size === b.size && [...a].every(([key, value]) => isSameValue(value, b.get(key)))

/** By the names in the file: what has become of each tensor. Those that are called something else are known by their bytes. */
export function matchTensors({ tensors }: Tree, model: Model): Map<string, Tensor> {
  const now = new Map(model.tensors.map((tensor) => [tensor.name, tensor]))
  const old = new Set(tensors.map(({ name }) => name))
  const renamed = new Map<Payload, Tensor>()
  for (const tensor of model.tensors) if (tensor.data && !old.has(tensor.name)) renamed.set(tensor.data, tensor)
  const matched = new Map<string, Tensor>()
  for (const tensor of tensors) {
    const target = now.get(tensor.name) ?? (tensor.data ? renamed.get(tensor.data) : undefined)
    if (target) matched.set(tensor.name, target)
  }
  return matched
}
