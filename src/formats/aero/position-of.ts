// Tensors by name.
import type { Tensor } from '../../model/index.js'

interface Asked {
  times: number
  positions?: Map<string, number>
}

const asked = new WeakMap<readonly Tensor[], Asked>()
/** Looking through a list is sooner done than a table of it, unless it is done often. */
const seldom = 4

export function positionOf(tensors: readonly Tensor[], name: string): number | undefined {
  const state = asked.get(tensors) ?? { times: 0 }
  asked.set(tensors, state)
  if (state.times++ < seldom) {
    const found = tensors.findIndex((tensor) => tensor.name === name)
    return found < 0 ? undefined : found
  }
  if (!state.positions) {
    state.positions = new Map()
    for (const [i, tensor] of tensors.entries()) state.positions.set(tensor.name, i)
  }
  return state.positions.get(name)
}
