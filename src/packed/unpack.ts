// Models with values in place of packed weights.
import { f32 } from '../dtypes/index.js'
import type { Model, Tensor } from '../model/index.js'
import { type Packing, packingOf } from './find.js'
import { packedPayload } from './maker.js'
import { decodedLength } from './rows.js'
import { membersOf, type PackedWeight } from './scheme.js'

/** The packed weight with this name, if its values are wanted or no tensor is stored under the name. */
export async function findWeight(
  model: Model,
  name: string,
  isDecoded: boolean,
  signal?: AbortSignal,
): Promise<PackedWeight | undefined> {
  if (!isDecoded && model.tensors.some((tensor) => tensor.name === name)) return undefined
  return (await packingOf(model, signal)).weights.find((weight) => weight.name === name)
}

/** The weight as f32, decoded when it is read. */
export async function unpackWeight(weight: PackedWeight, signal?: AbortSignal): Promise<Tensor> {
  const matrix = await weight.scheme.matrix(weight, signal)
  const data = packedPayload(weight, decodedLength(matrix, weight.codes))
  return { name: weight.name, dtype: f32, shape: matrix.shape, order: 'row', role: 'weight', data }
}

/** Each weight in the place of its codes, and nothing of what it was made of. */
export async function unpackTensors(
  tensors: readonly Tensor[],
  { weights, unused }: Packing,
  signal?: AbortSignal,
): Promise<readonly Tensor[]> {
  if (weights.length === 0) return tensors
  const unpacked = new Map<string, Tensor>()
  const gone = new Set<string>(unused)
  for (const weight of weights) {
    unpacked.set(weight.codes.name, await unpackWeight(weight, signal))
    for (const { name } of membersOf(weight)) gone.add(name)
  }
  return tensors.flatMap((tensor) => unpacked.get(tensor.name) ?? (gone.has(tensor.name) ? [] : [tensor]))
}

/** The same for a model; a model without packed weights stays as it is. */
export async function unpackModel(
  model: Model,
  isWanted: (weight: PackedWeight) => boolean = () => true,
  signal?: AbortSignal,
): Promise<Model> {
  const { weights, unused } = await packingOf(model, signal)
  const wanted = weights.filter(isWanted)
  if (wanted.length === 0) return model
  const isAll = wanted.length === weights.length
  const packing = { weights: wanted, unused: isAll ? unused : new Set<string>() }
  return { ...model, tensors: await unpackTensors(model.tensors, packing, signal) }
}
