import {
  type ByteSource,
  didYouMean,
  diffModels,
  failWith,
  type Model,
  TareError,
  usageCodes,
} from '../../../kit-node.js'
import { dataTable, wantsRecords } from '../../console/data-table.js'
import type { Context } from '../../context.js'
import { damageJson, warnOfDamage } from '../../input/damage.js'
import { assertUnchanged, checkStdin, forEachModel } from '../../input/run-inputs.js'
import { matchingTensors } from '../../input/tensors.js'
import { withWorkers } from '../../input/with-workers.js'
import { type Status, UsageError } from '../../status.js'
import type { DiffOptions } from './index.js'
import { differenceTable } from './records.js'
import { describeDifference, listNames } from './text.js'

export default function diff(context: Context, inputs: readonly string[], options: DiffOptions): Promise<Status> {
  return withWorkers(context, options.workers, (own) => diffHere(own, inputs, options))
}

async function diffHere(context: Context, inputs: readonly string[], options: DiffOptions): Promise<Status> {
  const [first, second, ...more] = inputs
  if (first === undefined || second === undefined || more.length > 0) throw new UsageError('diff takes two inputs')
  checkStdin(inputs)
  let isFirstOpen = false
  const status = await forEachModel(context, [first], async (a, _, sourceA) => {
    isFirstOpen = true
    let failure: unknown
    const compared = await forEachModel(context, [second], async (b, _, sourceB) => {
      try {
        const sides = [
          { model: a, input: first, source: sourceA },
          { model: b, input: second, source: sourceB },
        ] as const
        return await compare(context, ...sides, options)
      } catch (error) {
        if (!isAbout(a, error) || isAbout(b, error)) throw error
        failure = error
        return 1
      }
    })
    if (failure !== undefined) throw failure
    return compared
  })
  if (isFirstOpen) return status
  // The first cannot be compared with anything; whether the second opens still counts for the status.
  const ofSecond = await forEachModel(context, [second], async () => 0)
  return ofSecond > status ? ofSecond : status
}

/** Whether it was this model that could not be read, so that the report names the right input. */
const isAbout = ({ files }: Model, error: unknown): boolean =>
  error instanceof TareError && files.some((file) => file.name === error.finding.file)

interface Side {
  readonly model: Model
  readonly input: string
  readonly source: ByteSource
}

async function compare(context: Context, a: Side, b: Side, options: DiffOptions): Promise<Status> {
  const { console, signal } = context
  const { tolerance, metric, tensors, namesOnly, limit } = options
  const damage = [
    ...(await warnOfDamage(context, a.model, matchingTensors(a.model, tensors))),
    ...(await warnOfDamage(context, b.model, matchingTensors(b.model, tensors))),
  ]
  const found = await diffModels(a.model, b.model, {
    ...{ tolerance, metric, tensors, signal },
    measure: !namesOnly,
    pool: context.pool,
    onProgress: console.progress.update,
  })
  await assertUnchanged([a.source, b.source])
  // Nothing was compared, which is not the same as nothing being different.
  if (tensors && Object.values(found.summary.tensors).every((count) => count === 0))
    failWith(usageCodes.option, {
      file: '--tensors',
      message: `no tensor of either model matches ${tensors.join(' ')}${hintFor(tensors, [a.model, b.model])}`,
    })
  const difference = { ...found, file: a.input, other: { ...found.other, file: b.input }, ...damageJson(damage) }
  if (context.json) await console.json(difference)
  else if (namesOnly) await console.print(listNames(difference))
  else if (wantsRecords(console)) await console.print(dataTable(differenceTable(difference), console, a.input))
  else await console.print(describeDifference(difference, [a.model, b.model], console, limit))
  return difference.equal && damage.length === 0 ? 0 : 1
}

const hintFor = ([pattern = '']: readonly string[], models: readonly Model[]): string =>
  didYouMean(pattern, new Set(models.flatMap((model) => model.tensors.map(({ name }) => name))))
