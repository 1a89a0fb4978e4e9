import type { ByteSink } from '../bytes/index.js'
import { failWith, writeCodes } from '../errors/index.js'
import { type WriteLayoutOptions, type WrittenFile, writeLayout } from '../model/index.js'
import { type Conversion, isWorse, type Loss, type Plan } from './plan.js'

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
  failWith(writeCodes['loss-refused'], {
    file: plan.source.file,
    message: `${plan.loss} would be lost (${named.join('; ')}${more}); see --dry-run, allow it with --allow-loss`,
  })
}

/** Carries a conversion out. Nothing is visible under the target's name until all of it is there. */
export async function runConversion(
  { plan, layout }: Conversion,
  openSink: (name: string) => Promise<ByteSink>,
  options: RunOptions = {},
): Promise<WrittenFile[]> {
  checkLoss(plan, options.allowLoss)
  return writeLayout(layout, openSink, options)
}
