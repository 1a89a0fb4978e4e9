import type { Plan, PlanAction } from '../node.js'
import { JsonList } from './console/json.js'

/** A plan as it is printed in JSON: its actions one by one, since there can be a million. */
export function planJson(plan: Plan): Omit<Plan, 'actions'> & { readonly actions: JsonList } {
  const { actions } = plan
  return { ...plan, actions: new JsonList(actions.length, (i): PlanAction => actions.at(i)!) }
}
