// Changes between row and column order without moving a byte. The bytes of a matrix in column order are its transpose in row order; with
// more dimensions, they are the tensor with reversed dimensions. Element (i, j) is then found at (j, i), which readers of the result must
// know; `rowMajor` and `columnMajor` preserve the position of every element instead.
import type { Model, Tensor } from '../model/index.js'

/** The tensor in the given order, with reversed dimensions if it has the other one. */
export function keepBytes(tensor: Tensor, order: 'row' | 'column'): Tensor {
  if (tensor.order === order) return tensor
  const last = tensor.shape.length - 1
  const axis = tensor.quant?.axis
  const quant = tensor.quant && axis !== undefined ? { quant: { ...tensor.quant, axis: last - axis } } : {}
  return { ...tensor, shape: tensor.shape.toReversed(), order, ...quant }
}

/** The same for every tensor of a model. */
export function keepModelBytes(model: Model, order: 'row' | 'column'): Model {
  return { ...model, tensors: model.tensors.map((tensor) => keepBytes(tensor, order)) }
}

/** Whether reversing the dimensions makes a difference: vectors and scalars are the same in both orders. */
export const changesForm = (tensor: Tensor, order: 'row' | 'column'): boolean =>
  tensor.order !== order && tensor.shape.length > 1
