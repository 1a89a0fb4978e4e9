import { type Algorithm, failWith, type HashResult, hashModel, usageCodes } from '../../../node.js'
import type { Context } from '../../context.js'
import { checkDamage, type DamageFlags, damageJson, namesOf } from '../../input/damage.js'
import { escapeName } from '../../console/escape.js'
import { plural } from '../../console/format-values.js'
import { type Difference, differences, type HashRecord, parseHashes, recordFor } from './check.js'
import { assertUnchanged } from '../../output/guarded-output.js'
import { poolOf } from '../../pool-of.js'
import { forEachModel } from '../../input/run-inputs.js'
import { readSideFile } from '../../input/side-file.js'
import { type Status, UsageError } from '../../status.js'

interface HashFlags extends DamageFlags {
  readonly algorithm?: Algorithm
  readonly decoded?: boolean
  readonly check?: string
}

export default async function hash(context: Context, inputs: readonly string[], flags: HashFlags): Promise<Status> {
  const { console, signal } = context
  const pool = poolOf(context)
  if (flags.check === '-' && inputs.includes('-')) throw new UsageError('standard input can be read only once')
  const records = flags.check === undefined ? undefined : await readRecords(flags.check)
  return forEachModel(context, inputs, async (model, input, source) => {
    const record = records && recordFor(records, input, flags)
    if (records && !record)
      failWith(usageCodes.option, { file: input, message: `${flags.check} has no digests for it` })
    const algorithm = record?.algorithm ?? flags.algorithm ?? 'blake3'
    const decoded = record?.decoded ?? flags.decoded
    const damage = await checkDamage(context, model, flags, namesOf(model.tensors))
    const hashed = await hashModel(model, { algorithm, decoded, pool, signal, onProgress: console.progress.update })
    await assertUnchanged([source])
    const result: HashResult & ReturnType<typeof damageJson> = { ...hashed, file: input, ...damageJson(damage) }
    if (!record) {
      await (context.json ? console.json(result) : console.print(describe(result)))
      return 0
    }
    const found = differences(record, result)
    if (context.json)
      await console.json({ ...result, check: { file: flags.check, same: found.length === 0, differences: found } })
    else await console.print(describeCheck(context, result, found))
    return found.length === 0 ? 0 : 1
  })
}

async function readRecords(file: string): Promise<HashRecord[]> {
  const records = parseHashes((await readSideFile(file)).toString())
  if (records.length === 0) throw new UsageError(`${file} does not look like the output of \`tare hash\``)
  return records
}

/** The form that `parseHashes` reads back. */
export function* describe(result: HashResult): Generator<string> {
  yield `# ${escapeName(result.file)} ${result.format} ${result.algorithm}${result.decoded ? ' decoded' : ''}`
  for (const { digest, name } of result.tensors) yield `${digest ?? '-'}  ${escapeName(name)}`
  yield `# fingerprint ${result.fingerprint}`
}

function* describeCheck({ console }: Context, result: HashResult, found: readonly Difference[]): Generator<string> {
  const { color } = console
  for (const { name, what } of found) yield `${color.red(what)}  ${escapeName(name)}`
  const verdict = found.length === 0 ? color.green('same') : color.red(plural(found.length, 'difference'))
  yield `${color.bold(escapeName(result.file))}: ${verdict} — ${plural(result.tensors.length, 'tensor')}, ${result.algorithm}${result.decoded ? ' of decoded values' : ''}`
}
