// Row order and column order without moving a byte. The bytes of a matrix in column order are also its transpose in row order, and so it
// is with any number of dimensions: reversed dims over the same bytes. Element (i, j) is then found at (j, i), which is a change of form
// that whoever reads the result must know about; `rowMajor` and `columnMajor` keep every element in its place instead.
import type { Model, Tensor } from '../model/index.js'

/** The tensor in the given order, with reversed dims where that is not the order it has. */
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

/** Whether reversing the dims shows: a vector or scalar is the same in both orders. */
export const changesForm = (tensor: Tensor, order: 'row' | 'column'): boolean =>
  tensor.order !== order && tensor.shape.length > 1
