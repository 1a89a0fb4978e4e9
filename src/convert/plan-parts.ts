// What happens to each part: its own format keeps it, the target takes or maps it, it is stowed, computed anew, or dropped.
import type { Part, WriteCapabilities } from '../model/index.js'
import type { Stower } from '../stow/index.js'
import { type ActionLog, noter } from './action-log.js'
import { applyFit } from './apply-fit.js'

export interface PartsContext {
  readonly write: WriteCapabilities
  readonly actions: ActionLog
  readonly stower: Stower | undefined
  /** Whether the target is the format that a part belongs to. */
  readonly isOwner: (part: Part) => boolean
  readonly signal?: AbortSignal | undefined
}

export async function planParts(parts: readonly Part[], context: PartsContext): Promise<Part[]> {
  const kept: Part[] = []
  for (const part of parts) {
    const planned = await planPart(part, context)
    if (planned) kept.push(planned)
  }
  return kept
}

async function planPart(part: Part, context: PartsContext): Promise<Part | undefined> {
  const { write, actions, stower, signal } = context
  const note = noter(actions, 'part', part.name ?? part.kind)
  const isOwner = context.isOwner(part)
  if (part.sharing === 'derived') {
    note('recompute', 'none', { reason: 'it follows from the rest' })
    return isOwner ? part : undefined
  }
  const fit = part.sharing === 'private' && isOwner ? { fits: true } : write.part(part)
  if (fit.fits && !fit.as) {
    note('copy', 'none')
    return part
  }
  const why = stower ? await stower.part(part, signal) : undefined
  if (!stower || why !== undefined) return applyFit(withReason(fit, why), part, note)
  note('stow', 'none', fit.reason === undefined ? {} : { reason: fit.reason })
  return fit.as
}

const withReason = <F extends { readonly fits: boolean; readonly reason?: string }>(fit: F, why?: string): F =>
  fit.fits || why === undefined ? fit : { ...fit, reason: `${fit.reason ?? 'there is no place for it'}, and ${why}` }
