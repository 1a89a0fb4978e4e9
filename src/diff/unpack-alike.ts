// A weight that is packed in several tensors is compared by what is stored where the other model packs it the same way, and otherwise by its
// values.
import type { Model, Tensor } from '../model/index.js'
import { membersOf, type PackedWeight, unpackModel } from '../packed/index.js'

export async function unpackAlike(a: Model, b: Model, signal?: AbortSignal): Promise<readonly [Model, Model]> {
  const unpack = async (model: Model, other: Model): Promise<Model> => {
    let others: ReadonlyMap<string, Tensor> | undefined
    const isStoredAlike = (weight: PackedWeight): boolean => {
      others ??= new Map(other.tensors.map((tensor) => [tensor.name, tensor]))
      return membersOf(weight).every((each) => isAlike(each, others!.get(each.name)))
    }
    return unpackModel(model, (weight) => !isStoredAlike(weight), signal)
  }
  return [await unpack(a, b), await unpack(b, a)]
}

const isAlike = ({ dtype, shape }: Tensor, other: Tensor | undefined): boolean =>
  other?.dtype === dtype && other.shape.length === shape.length && other.shape.every((dim, i) => dim === shape[i])
