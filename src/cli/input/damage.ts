// Verbs that hand weights on first compare the checksums that the file has for them.
import { type Finding, findDamage, type Model, refuseDamage, type TensorList } from '../../node.js'
import type { Context } from '../context.js'
import { formatFindingLine } from '../console/finding-line.js'
import { plural } from '../console/format-values.js'
import { poolOf } from '../pool-of.js'

export interface DamageFlags {
  readonly allowDamage?: boolean
}

/** Where only tensors are read, only what covers them counts. */
export const namesOf = (tensors: TensorList): ReadonlySet<string> => new Set(tensors.map(({ name }) => name))

/** What is damaged, when that is allowed; else it is an error. `only` names the tensors that will be read; absent: everything counts. */
export async function checkDamage(
  context: Context,
  model: Model,
  { allowDamage }: DamageFlags,
  only?: ReadonlySet<string>,
): Promise<readonly Finding[]> {
  const damage = await findIn(context, model, only)
  if (!allowDamage) refuseDamage(damage, model)
  else remarkDamage(context, damage)
  return damage
}

/** For verbs that only show something: what is damaged is said, and the answer is still given. */
export async function warnOfDamage(context: Context, model: Model, tensors: TensorList): Promise<readonly Finding[]> {
  const damage = await findIn(context, model, namesOf(tensors))
  remarkDamage(context, damage)
  return damage
}

function findIn(context: Context, model: Model, only?: ReadonlySet<string>): Promise<readonly Finding[]> {
  const { signal, console } = context
  return findDamage(model, { only, signal, pool: poolOf(context), onProgress: console.progress.update })
}

export interface AllowedDamage {
  /** Grows when the work is done. */
  readonly damage: readonly Finding[]
  /** Absent: damage is not allowed. */
  readonly onDamage?: (damage: readonly Finding[]) => void
}

/** For work that looks for damage itself. */
export function damageAllowed(context: Context, isAllowed: boolean | undefined): AllowedDamage {
  const damage: Finding[] = []
  if (!isAllowed) return { damage }
  const onDamage = (found: readonly Finding[]): void => {
    for (const finding of found) damage.push(finding)
    remarkDamage(context, found)
  }
  return { damage, onDamage }
}

/** How many are shown. */
const maxShown = 5

function remarkDamage({ console, json }: Context, damage: readonly Finding[]): void {
  if (damage.length === 0 || json) return
  for (const finding of damage.slice(0, maxShown)) console.remark(formatFindingLine(finding, console.errorColor, true))
  const more = damage.length > maxShown ? ` (${damage.length - maxShown} more are not shown)` : ''
  console.remark(`warning: the input is damaged in ${plural(damage.length, 'place')}${more}; it is taken as it is`)
}

/** For JSON: what is damaged, where anything is. */
export const damageJson = (damage: readonly Finding[]): { readonly damage?: readonly Finding[] } =>
  damage.length === 0 ? {} : { damage }
