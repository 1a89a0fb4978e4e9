// What recoding does to a tensor, for the plan.
import type { DType } from '../../dtypes/index.js'
import type { Tensor } from '../../model/index.js'
import type { ActionKind, PlanAction } from '../actions.js'

export type TensorChange = Pick<PlanAction, 'action' | 'loss' | 'requested' | 'from' | 'to' | 'reason'>

/** By the position of the tensor. */
export type Changes = Map<number, TensorChange>

export const typeOf = ({ encoding, dtype }: Tensor): DType => encoding ?? dtype

export const change = (action: ActionKind, loss: PlanAction['loss'], from: DType, to: string): TensorChange => ({
  action,
  loss,
  requested: true,
  from: from.id,
  to,
})
