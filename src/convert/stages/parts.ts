import type { Part } from '../../model/index.js'
import { type ActionLog, noter } from '../actions.js'
import { applyFit } from './apply-fit.js'
import { type State, withActions } from './state.js'

/** Each part is kept by its own format, taken or mapped by the target, stowed, computed again, or dropped. */
export async function fitParts(state: State): Promise<State> {
  const { model } = state
  const actions: ActionLog = []
  const parts: Part[] = []
  for (const part of model.parts) {
    const planned = await planPart(part, state, actions)
    if (planned) parts.push(planned)
  }
  return withActions({ ...state, model: { ...model, parts } }, actions)
}

async function planPart(part: Part, state: State, actions: ActionLog): Promise<Part | undefined> {
  const { write, stower, options } = state
  const note = noter(actions, 'part', part.name ?? part.kind)
  const isOwner = (part.owner ?? state.source.format) === state.target.id
  if (part.sharing === 'derived') {
    note('recompute', 'none', { reason: 'it follows from the rest' })
    return isOwner ? part : undefined
  }
  const fit = part.sharing === 'private' && isOwner ? { fits: true } : write.part(part)
  if (fit.fits && !fit.as) {
    note('copy', 'none')
    return part
  }
  const why = stower ? await stower.part(part, options.signal) : undefined
  if (!stower || why !== undefined) return applyFit(withReason(fit, why), part, note)
  note('stow', 'none', fit.reason === undefined ? {} : { reason: fit.reason })
  return fit.as
}

const withReason = <F extends { readonly fits: boolean; readonly reason?: string }>(fit: F, why?: string): F =>
  fit.fits || why === undefined ? fit : { ...fit, reason: `${fit.reason ?? 'there is no place for it'}, and ${why}` }
