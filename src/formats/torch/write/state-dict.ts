// The pickle of a model that was not a checkpoint: a dictionary of names and tensors, as state_dict() gives them. A tensor with a path of
// several names lies in dictionaries of these names.
import type { Tensor } from '../../../model/index.js'
import { PickleDict, type PickleValue } from '../../../wire/pickle/pickle.js'
import { PickleWriter } from '../../../wire/pickle/write.js'
import type { NewStorages } from './storages.js'
import { tensorNode } from './tensor-node.js'

export function pickleStateDict(tensors: readonly Tensor[], storages: NewStorages): Uint8Array {
  const writer = new PickleWriter()
  if (tensors.some(hasPath)) writer.value(nested(tensors, storages))
  // One tensor at a time: a model can have a hundred thousand.
  else writer.separateDict(tensors.length, entriesOf(tensors, storages))
  return writer.finish()
}

function* entriesOf(
  tensors: readonly Tensor[],
  storages: NewStorages,
): Generator<readonly [PickleValue, PickleValue], void, void> {
  for (const tensor of tensors) yield [tensor.name, tensorNode(tensor, storages)]
}

const hasPath = ({ path, name }: Tensor): boolean => path !== undefined && path.length > 1 && path.join('.') === name

function nested(tensors: readonly Tensor[], storages: NewStorages): PickleDict {
  const root = new PickleDict()
  const names = new Set(tensors.map(({ name }) => name))
  for (const tensor of tensors) {
    const node = tensorNode(tensor, storages)
    const folders = hasPath(tensor) ? tensor.path!.slice(0, -1) : []
    // Where a tensor has the name of a dictionary, the others keep their whole names.
    const isFree = folders.every((_, i) => !names.has(folders.slice(0, i + 1).join('.')))
    if (!isFree || folders.length === 0) root.set(tensor.name, node)
    else dictAt(root, folders).set(tensor.path!.at(-1)!, node)
  }
  return root
}

function dictAt(root: PickleDict, path: readonly string[]): PickleDict {
  let dict = root
  for (const name of path) {
    const known = dict.get(name)
    const next = known instanceof PickleDict ? known : new PickleDict()
    if (next !== known) dict.set(name, next)
    dict = next
  }
  return dict
}
