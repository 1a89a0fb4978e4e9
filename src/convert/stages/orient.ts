import { orientFor } from '../../transforms/orientation.js'
import { type ActionLog, noter } from '../actions.js'
import { type State, withActions } from './state.js'

/** Linear weights lie the way round that the target wants them. */
export function orient(state: State): State {
  if (state.options.keepOrientation) return state
  const { model, turned, from, to, isAssumed } = orientFor(state.model, state.write.orientation)
  const reason = `linear weights lie ${isAssumed ? 'presumably ' : ''}as [${from === 'in-out' ? 'in, out' : 'out, in'}], the target wants the transpose`
  const actions: ActionLog = []
  for (const name of turned) noter(actions, 'tensor', name)('transpose', 'none', { reason, from: from!, to: to! })
  return withActions({ ...state, model }, actions)
}
