import type { ByteSink } from '../bytes/index.js'
import { failWith, writeCodes } from '../errors/index.js'
import { type WriteLayoutOptions, type WrittenFile, writeLayout } from '../model/index.js'
import { type Conversion, isWorse, type Loss, type Plan, type PlanAction } from './plan.js'

export interface RunOptions extends WriteLayoutOptions {
  /** The worst loss that may happen without having been asked for: changes of form are always fine. */
  readonly allowLoss?: Loss | undefined
}

/** Throws `write/loss-refused` when the plan loses more than is allowed, naming the first few things that would be lost. */
export function checkLoss(plan: Plan, allowed: Loss = 'form'): void {
  if (!isWorse(plan.loss, allowed) || !isWorse(plan.loss, 'form')) return
  const lost = plan.actions.filter(
    (action) => !action.requested && isWorse(action.loss, isWorse(allowed, 'form') ? allowed : 'form'),
  )
  const named = lost
    .slice(0, 3)
    .map((action) => `${action.subject} ${JSON.stringify(action.name)}: ${action.reason ?? action.action}`)
  const more = lost.length > 3 ? ` and ${lost.length - 3} more` : ''
  const message = `${plan.loss} would be lost (${named.join('; ')}${more}); see --dry-run, go on with ${flagFor(plan.loss, lost)}`
  failWith(writeCodes['loss-refused'], { file: plan.source.file, message })
}

/** The flag that allows just this. Where it is only about a part or two, they can be left out by name. */
function flagFor(loss: Loss, lost: readonly PlanAction[]): string {
  if (loss === 'precision') return '--allow-loss precision'
  const parts = lost.length <= 2 && lost.every(({ subject }) => subject === 'part') ? lost : []
  return parts.length === 0 ? '--allow-loss' : parts.map(({ name }) => `--without ${name}`).join(' ')
}

/** Carries a conversion out. Nothing is visible under the target's name until all of it is there. */
export async function runConversion(
  { plan, layout }: Pick<Conversion, 'plan' | 'layout'>,
  openSink: (name: string) => Promise<ByteSink>,
  options: RunOptions = {},
): Promise<WrittenFile[]> {
  checkLoss(plan, options.allowLoss)
  return writeLayout(layout, openSink, options)
}
