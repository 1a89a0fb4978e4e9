import type { State } from './state.js'

/** What has no other place goes into the target's metadata, so that it comes back with the model. */
export function stow(state: State): State {
  const { stower, items, model, keys, options } = state
  if (!stower) return state
  const names = items.flatMap(({ tensor }) => tensor?.name ?? [])
  const tensors = items.flatMap(({ stored }) => stored ?? [])
  const entries = stower.entries({ keys, names, tensors }, options.name)
  return { ...state, model: { ...model, metadata: new Map([...model.metadata, ...entries]) } }
}
