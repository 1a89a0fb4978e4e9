// What recoding does to a tensor, for the plan. Very many tensors have the same change, which is there once.
import type { DType } from '../../dtypes/index.js'
import type { Tensor } from '../../model/index.js'
import type { ActionKind, Change, Loss } from '../actions.js'

/** By the position of the tensor. */
export type Changes = Map<number, Change>

export const typeOf = ({ encoding, dtype }: Tensor): DType => encoding ?? dtype

export function change(action: ActionKind, loss: Loss, { id: from }: DType, to: string): Change {
  const key = [action, loss, from, to].join(' ')
  const made = known.get(key) ?? { action, loss, requested: true, from, to }
  known.set(key, made)
  return made
}

const known = new Map<string, Change>()

/** A list of this change and no other. */
export function alone(change: Change): readonly Change[] {
  const list = lists.get(change) ?? [change]
  lists.set(change, list)
  return list
}

const lists = new WeakMap<Change, readonly Change[]>()
