// Tensors by name.
import { NameSet } from '../../bytes/name-set.js'
import type { TensorList } from '../../model/index.js'

interface Asked {
  times: number
  positions?: NameSet
}

const asked = new WeakMap<TensorList, Asked>()
/** Looking through a list is sooner done than a table of it, unless it is done often. */
const seldom = 4

export function positionOf(tensors: TensorList, name: string): number | undefined {
  const state = asked.get(tensors) ?? { times: 0 }
  asked.set(tensors, state)
  const nameAt = namesOf(tensors)
  if (state.times++ < seldom) {
    for (let i = 0; i < tensors.length; i++) if (nameAt(i) === name) return i
    return undefined
  }
  if (!state.positions) {
    state.positions = new NameSet(nameAt)
    for (let i = 0; i < tensors.length; i++) state.positions.add(nameAt(i), i)
  }
  return state.positions.find(name)
}

/** Lists that make tensors on the way give a name alone, too. */
function namesOf(tensors: TensorList & { nameAt?(i: number): string }): (i: number) => string {
  return (i) => (tensors.nameAt ? tensors.nameAt(i) : tensors.at(i)!.name)
}
