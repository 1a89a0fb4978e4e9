import type { List } from '../bytes/lazy-list.js'
import type { Tensor } from './tensor.js'

/** The tensors of a model: an array, or a list that makes a tensor when it is asked for. */
export type TensorList = List<Tensor>
