// Tensors by name.
import type { TensorList } from '../../model/index.js'

interface Asked {
  times: number
  positions?: Map<string, number>
}

const asked = new WeakMap<TensorList, Asked>()
/** Looking through a list is sooner done than a table of it, unless it is done often. */
const seldom = 4

export function positionOf(tensors: TensorList, name: string): number | undefined {
  const state = asked.get(tensors) ?? { times: 0 }
  asked.set(tensors, state)
  if (state.times++ < seldom) {
    for (const [i, tensor] of tensors.entries()) if (tensor.name === name) return i
    return undefined
  }
  if (!state.positions) {
    state.positions = new Map()
    for (const [i, tensor] of tensors.entries()) state.positions.set(tensor.name, i)
  }
  return state.positions.get(name)
}
