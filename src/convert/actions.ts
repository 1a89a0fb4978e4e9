// The actions of a plan, noted while it is made.
import { type ActionKind, isWorse, type Loss, type PlanAction } from './plan-types.js'

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
