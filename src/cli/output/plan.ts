// What verbs that make files have in common: how much loss is allowed, which format is meant, and the plan as a dry run shows it.
import { type Conversion, checkLoss, formats, TareError } from '../../node.js'
import type { Context } from '../context.js'
import { planJson } from '../plan-json.js'
import { describePlan } from '../plan-table.js'
import { type Status, UsageError } from '../status.js'

export type AllowLoss = 'none' | 'precision' | 'all'

export const worstLoss = { none: 'form', precision: 'precision', all: 'content' } as const

/** The name of the output says nothing; what would. */
export function unknownOutput(): UsageError {
  const known = formats.filter((each) => each.layout ?? each.exporter).map((each) => each.id)
  return new UsageError(`the name of the output does not say its format; add --to with one of ${known.join(', ')}`)
}

export async function showPlan(
  { console, json }: Context,
  input: string,
  { plan }: Conversion,
  allowLoss: AllowLoss = 'none',
): Promise<Status> {
  let refused: TareError | undefined
  try {
    checkLoss(plan, worstLoss[allowLoss])
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    refused = error
  }
  if (json) await console.json({ ...planJson(plan), file: input, format: plan.source.format, allowed: !refused })
  else await console.print(describePlan(plan, input, console))
  if (refused && !json) console.complainOf(refused.finding)
  return refused ? 1 : 0
}
