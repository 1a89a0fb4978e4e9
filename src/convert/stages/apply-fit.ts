import type { Fit } from '../../model/index.js'
import type { Note } from '../actions.js'

/**
 * What the target makes of a thing, noted in the plan; undefined when it has no place. `isKept`: the other form comes back as the thing that
 * it was. So it does where only the way of writing is another.
 */
export function applyFit<T>(fit: Fit<T>, value: T, note: Note, isKept = fit.as === value): T | undefined {
  if (!fit.fits) {
    note('drop', fit.loss ?? 'content', { reason: fit.reason ?? 'the target has no place for it' })
    return undefined
  }
  if (fit.as === undefined) return value
  note('map', fit.loss ?? (isKept ? 'none' : 'form'), { ...(fit.reason !== undefined && { reason: fit.reason }) })
  return fit.as
}
