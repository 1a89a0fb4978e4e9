// Damage must not travel: a copy of damaged weights would get fresh checksums, and nobody could tell any more. So everything that hands
// weights on first compares the checksums that the file has for them. Formats without checksums have nothing to compare.
import { collectingReport, type Finding, failWith, placeOf, TareError, verifyCodes } from '../errors/index.js'
import { Damage } from '../model/damage.js'
import {
  type DamageFinder,
  type DamageOptions,
  type Format,
  type Model,
  type Opened,
  type ReadContext,
  totalSize,
} from '../model/index.js'

/** What is damaged, as far as the checksums of the model's files tell. */
export async function findDamage(model: Model, options: DamageOptions = {}): Promise<readonly Finding[]> {
  const found: Finding[] = []
  for (const find of model.damageFinders ?? []) found.push(...(await find(options)))
  return found
}

/** Throws `verify/damaged` when there is any, for the first place and with the tensors that it concerns. */
export function refuseDamage(damage: readonly Finding[], { tensors }: Pick<Model, 'tensors'>): void {
  const [first, ...more] = damage
  if (!first) return
  const places = new Damage(damage)
  const hurt = tensors.filter((tensor) => places.concerning(tensor).length > 0).map(({ name }) => JSON.stringify(name))
  const named = hurt.length === 0 ? 'the file' : `${hurt.slice(0, maxNamed).join(', ')}${moreThan(hurt.length)}`
  const others = more.length === 0 ? '' : ` (and ${more.length} more findings)`
  const message = `${named} ${hurt.length > 1 ? 'are' : 'is'} damaged: ${first.message} (${first.code})${others}; \`tare repair\` saves what is whole, --allow-damage takes it as it is`
  failWith(verifyCodes.damaged, { ...placeOf(first), message })
}

const maxNamed = 3
const moreThan = (count: number): string => (count > maxNamed ? ` and ${count - maxNamed} more tensors` : '')

/** Undefined for a format without checksums. */
export function damageFinder(format: Format, { model, check }: Opened, context: ReadContext): DamageFinder | undefined {
  if (format.capabilities.checksums === 'none' || !check) return undefined
  return async ({ only, signal, pool, onProgress }) => {
    const findings: Finding[] = []
    const report = collectingReport(context.report.file, findings)
    const total = totalSize(model)
    let done = 0
    const checked = (bytes: number): void => {
      done += bytes
      onProgress?.({ done, total, path: context.report.file })
    }
    try {
      await check({
        ...context,
        report,
        extents: undefined,
        signal,
        extra: {},
        pool,
        only,
        checked,
      })
    } catch (error) {
      // The check itself could not go on, and has reported why; anything else is not about the file's content.
      if (!(error instanceof TareError) || !findings.includes(error.finding)) throw error
    }
    return findings.filter(({ severity }) => severity === 'error')
  }
}
