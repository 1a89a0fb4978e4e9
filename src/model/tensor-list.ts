// The tensors of a model. Arrays are such lists; those of a large file make a tensor only when it is asked for, since a million of them
// would take more memory than all the rest. Twice the same place gives equal tensors there, not the same object.
import type { Tensor } from './tensor.js'

export type Each<T> = (tensor: Tensor, index: number) => T

export interface TensorList extends Iterable<Tensor> {
  readonly length: number
  at(index: number): Tensor | undefined
  keys(): IterableIterator<number>
  entries(): IterableIterator<[number, Tensor]>
  map<T>(change: Each<T>): T[]
  flatMap<T>(change: Each<T | readonly T[]>): T[]
  filter(isWanted: Each<unknown>): Tensor[]
  find(isWanted: Each<unknown>): Tensor | undefined
  some(isWanted: Each<unknown>): boolean
  every(isWanted: Each<unknown>): boolean
  reduce<T>(add: (sum: T, tensor: Tensor, index: number) => T, start: T): T
  slice(start?: number, end?: number): Tensor[]
  toSorted(compare: (a: Tensor, b: Tensor) => number): Tensor[]
}
