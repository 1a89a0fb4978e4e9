// The global index of a set and the index of a part both describe a tensor; they must say the same.
import type { Tensor } from '../../../model/index.js'
import { sameBytes } from '../control/chunk.js'
import type { TensorTable } from '../index/tensor-table.js'

/** How tensor i of the global index and tensor k of a part differ, in words; where the bytes lie may differ. */
export function differencesOf(global: TensorTable, i: number, part: TensorTable, k: number): string[] {
  const tensor = global.tensors.at(i)!
  const own = part.tensors.at(k)!
  const [hash, ownHash] = [global.hashOf(i), part.hashOf(k)]
  const [type, ownType] = [typeOf(tensor), typeOf(own)]
  return [
    tensor.dtype.id !== own.dtype.id && `dtype ${tensor.dtype.id} and ${own.dtype.id}`,
    type !== undefined && ownType !== undefined && type !== ownType && `type ${type} and ${ownType}`,
    String(tensor.shape) !== String(own.shape) && `shape [${tensor.shape}] and [${own.shape}]`,
    global.lengths[i] !== part.lengths[k] && `data_len ${global.lengths[i]} and ${part.lengths[k]}`,
    hash && ownHash && !sameBytes(hash, ownHash) && 'different hash_b3',
  ].filter((difference) => typeof difference === 'string')
}

/** What is said about bytes that are no elements: the type of their blocks, or a number that they were kept under. */
const typeOf = ({ encoding, extra }: Tensor): string | number | undefined =>
  encoding?.id ?? (typeof extra?.dtype === 'number' ? extra.dtype : undefined)
