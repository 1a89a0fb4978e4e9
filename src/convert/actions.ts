// The actions of a plan, and how they are noted while it is made. Plain JSON, so that programs can read it and receipts can keep it.
import type { Fit } from '../model/index.js'

/** How much a change loses, mildest first. */
const lossOrder = ['none', 'form', 'precision', 'content'] as const

/**
 * What a conversion loses: `none`, the `form` of something (its content stays, and other programs may see it differently), the `precision`
 * of values, or `content`.
 */
export type Loss = (typeof lossOrder)[number]

export type ActionKind =
  | 'copy'
  | 'cast'
  | 'quantize'
  | 'dequantize'
  | 'reorder'
  | 'transpose'
  | 'rename'
  | 'map'
  | 'stow'
  | 'restore'
  | 'set'
  | 'add'
  | 'recompute'
  | 'drop'

/** What happens to one tensor, metadata entry or part. */
export interface PlanAction {
  readonly subject: 'tensor' | 'metadata' | 'part'
  readonly name: string
  readonly action: ActionKind
  readonly loss: Loss
  /** Asked for by the caller: named, but not refused. */
  readonly requested?: true
  readonly reason?: string
  readonly from?: string
  readonly to?: string
  /** The type of a metadata entry that is set, where it is not text. */
  readonly type?: string
}

/** What is done to a thing, whatever it is called. */
export type Change = Omit<PlanAction, 'subject' | 'name'>

export const isWorse = (a: Loss, b: Loss): boolean => lossOrder.indexOf(a) > lossOrder.indexOf(b)

export type ActionLog = PlanAction[]

export type Note = (action: ActionKind, loss: Loss, more?: Partial<PlanAction>) => void

/** Notes what is done to one thing. */
export function noter(log: ActionLog, subject: PlanAction['subject'], name: string): Note {
  return (action, loss, more) => {
    log.push({ subject, name, action, loss, ...more })
  }
}

export function worstOf(actions: Iterable<Pick<PlanAction, 'loss'>>): Loss {
  let worst: Loss = 'none'
  for (const { loss } of actions) if (isWorse(loss, worst)) worst = loss
  return worst
}

/**
 * What the target makes of a thing, noted in the plan; undefined when it has no place. `isKept`: the other form comes back as the thing that
 * it was. So it does where only the way of writing is another.
 */
export function applyFit<T>(fit: Fit<T>, value: T, note: Note, isKept = fit.as === value): T | undefined {
  if (!fit.fits) {
    note('drop', fit.loss ?? 'content', { reason: fit.reason ?? 'the target cannot store it' })
    return undefined
  }
  if (fit.as === undefined) return value
  note('map', fit.loss ?? (isKept ? 'none' : 'form'), { ...(fit.reason !== undefined && { reason: fit.reason }) })
  return fit.as
}
