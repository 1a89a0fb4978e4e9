// Verbs that pass weights on first compare them with the checksums that the file has for them.
import { type Finding, findDamage, type Model, refuseDamage } from '../../kit-node.js'
import { plural } from '../console/format-values.js'
import type { Context } from '../context.js'
import type { Tensors } from './tensors.js'

/** Where only some tensors are read, only the checksums that cover them count. */
export const namesOf = (tensors: Tensors): ReadonlySet<string> => new Set(tensors.map(({ name }) => name))

/** What is damaged, where that is allowed; otherwise it is an error. `only` names the tensors that will be read, all without it. */
export async function checkDamage(
  context: Context,
  model: Model,
  { allowDamage }: { readonly allowDamage?: boolean },
  only?: ReadonlySet<string>,
): Promise<readonly Finding[]> {
  const damage = await findIn(context, model, only)
  if (!allowDamage) refuseDamage(damage, model)
  else remarkDamage(context, damage)
  return damage
}

/** For verbs that only show something: damage is remarked on, and the answer is still given. */
export async function warnOfDamage(context: Context, model: Model, tensors: Tensors): Promise<readonly Finding[]> {
  const damage = await findIn(context, model, namesOf(tensors))
  remarkDamage(context, damage)
  return damage
}

function findIn(context: Context, model: Model, only?: ReadonlySet<string>): Promise<readonly Finding[]> {
  const { signal, console } = context
  return findDamage(model, { only, signal, pool: context.pool, onProgress: console.progress.update })
}

interface AllowedDamage {
  /** Filled while the work is done. */
  readonly damage: readonly Finding[]
  readonly onDamage: (damage: readonly Finding[]) => void
}

/** For work that looks for damage itself, and where it is allowed. */
export function allowedDamage(context: Context): AllowedDamage {
  const damage: Finding[] = []
  const onDamage = (found: readonly Finding[]): void => {
    for (const finding of found) damage.push(finding)
    remarkDamage(context, found)
  }
  return { damage, onDamage }
}

const maxShown = 5

function remarkDamage({ console, json }: Context, damage: readonly Finding[]): void {
  if (damage.length === 0 || json) return
  for (const finding of damage.slice(0, maxShown)) console.remarkOn(finding)
  const more = damage.length > maxShown ? ` (${damage.length - maxShown} more are not shown)` : ''
  console.remark(`warning: the input is damaged in ${plural(damage.length, 'place')}${more}; continuing anyway`)
}

/** For JSON: a member only where something is damaged. */
export const damageJson = (damage: readonly Finding[] = []): { readonly damage?: readonly Finding[] } =>
  damage.length === 0 ? {} : { damage }
