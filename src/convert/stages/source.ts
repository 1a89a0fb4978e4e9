// The first stages: the model as it was meant, and what the caller wants of it beyond single tensors.
import type { Part } from '../../model/index.js'
import { restoreStowed } from '../../stow/index.js'
import { attachState, dropState } from '../../transforms/optimizer-state.js'
import { orientFor } from '../../transforms/orientation.js'
import { type ActionLog, noter } from '../actions.js'
import { type State, withActions } from './state.js'

/** Everything that the container only carried is back in its own form. Versions and variants mean something only within one format. */
export async function restore(state: State): Promise<State> {
  const { model, names } =
    state.options.stow === false ? { model: state.model, names: [] } : await restoreStowed(state.model)
  const actions: ActionLog = []
  for (const { subject, name } of names) noter(actions, subject, name)('restore', 'none')
  const said = [model, model.origin].find((each) => each?.format === state.target.id)
  return withActions(
    { ...state, restored: model, model: { ...model, version: said?.version, variant: said?.variant } },
    actions,
  )
}

/** Optimizer state goes, or is attached to the parameters that it belongs to. */
export function changeOptimizerState(state: State): State {
  const { dropState: isDropped, stateFrom } = state.options
  const actions: ActionLog = []
  let { model } = state
  if (isDropped) {
    model = dropState(model, (name) =>
      noter(actions, 'tensor', name)('drop', 'content', { requested: true, reason: 'optimizer state' }),
    )
  }
  if (stateFrom) {
    const attached = attachState(model, stateFrom)
    for (const name of attached.unmatched) {
      noter(actions, 'tensor', name)('drop', 'content', { reason: 'there is no parameter that it belongs to' })
    }
    model = attached.model
  }
  return withActions({ ...state, model }, actions)
}

/** Parts that the caller adds take the place of those with the same kind and name. */
export function addParts(state: State): State {
  const { model, options } = state
  const added = options.parts ?? []
  if (added.length === 0) return state
  const isReplaced = (part: Part): boolean => added.some(({ kind, name }) => kind === part.kind && name === part.name)
  const actions: ActionLog = []
  for (const { kind, name } of added) noter(actions, 'part', name ?? kind)('set', 'none', { requested: true })
  const parts = [...model.parts.filter((part) => !isReplaced(part)), ...added]
  return withActions({ ...state, restored: model, model: { ...model, parts } }, actions)
}

/** Linear weights lie the way round that the target wants them. */
export function orient(state: State): State {
  if (state.options.keepOrientation) return state
  const { model, turned, from, to, isAssumed } = orientFor(state.model, state.write.orientation)
  const reason = `linear weights lie ${isAssumed ? 'presumably ' : ''}as [${from === 'in-out' ? 'in, out' : 'out, in'}], the target wants the transpose`
  const actions: ActionLog = []
  for (const name of turned) noter(actions, 'tensor', name)('transpose', 'none', { reason, from: from!, to: to! })
  return withActions({ ...state, model }, actions)
}
