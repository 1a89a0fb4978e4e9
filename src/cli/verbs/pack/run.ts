import { basename, dirname, join } from 'node:path'
import {
  type ByteSink,
  type Conversion,
  closeModel,
  type Format,
  formatById,
  formatForOutput,
  type Model,
  onTempCount,
  packFile,
  planConversion,
  runConversion,
  TareError,
} from '../../../node.js'
import type { Context } from '../../context.js'
import { escapeName } from '../../console/escape.js'
import { formatOptionValues } from '../../format-facts.js'
import { formatSize, plural } from '../../console/format-values.js'
import { assertNotInput, markOutputErrors, openGuarded } from '../../output/guarded-output.js'
import { planJson } from '../../plan-json.js'
import { summarizePlan } from '../../plan-table.js'
import { followTemps } from '../../console/process-events.js'
import { checkFormatId, reportFailure, statusOf } from '../../input/run-inputs.js'
import { type AllowLoss, showPlan, unknownOutput, worstLoss } from '../../output/plan.js'
import { type Status, UsageError } from '../../status.js'

interface PackFlags {
  readonly output?: string
  readonly to?: string
  /** A file name, or true where the option stands alone and asks for JSON on standard output. */
  readonly json?: string | true
  readonly data?: string
  readonly root?: string
  readonly dryRun?: boolean
  readonly allowLoss?: AllowLoss
  readonly overwrite?: boolean
}

export default async function pack(context: Context, words: readonly string[], flags: PackFlags): Promise<Status> {
  const [input = ''] = words
  const format = chooseFormat(flags)
  checkFlags(context, flags)
  const extra = formatOptionValues('write', { ...flags })
  followTemps(onTempCount)
  let model: Model | undefined
  context.console.progress.start()
  try {
    const data = typeof flags.json === 'string' ? flags.json : flags.data
    model = await packFile(input, { data, root: flags.root, signal: context.signal })
    const name =
      flags.output === undefined || flags.output === '-' ? `model${format.extensions[0]}` : basename(flags.output)
    const conversion = await planConversion(model, format.id, {
      name,
      deterministic: true,
      extra,
      signal: context.signal,
    })
    return flags.dryRun
      ? await showPlan(context, input, conversion, flags.allowLoss)
      : await carryOut(context, input, model, conversion, flags)
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    await reportFailure(context, input, null, error)
    return statusOf(error)
  } finally {
    context.console.progress.finish()
    if (model) await closeModel(model)
  }
}

function chooseFormat({ output, to }: PackFlags): Format {
  if (to !== undefined) checkFormatId(to, '--to')
  const format = to === undefined ? formatForOutput(basename(output ?? '')) : formatById(to)
  if (format) return format
  if (output === undefined) throw new UsageError('say where to with -o OUT')
  throw unknownOutput()
}

function checkFlags(context: Context, flags: PackFlags): void {
  if (flags.output === undefined && !flags.dryRun) throw new UsageError('say where to with -o OUT')
  if (flags.output === '-' && context.json && !flags.dryRun)
    throw new UsageError('--json and -o - both want standard output')
  if (typeof flags.json === 'string' && flags.data !== undefined)
    throw new UsageError('--json FILE and --data FILE mean the same; give one of them')
}

async function carryOut(
  { console, json, signal }: Context,
  input: string,
  model: Model,
  conversion: Conversion,
  { output = '', allowLoss, overwrite }: PackFlags,
): Promise<Status> {
  const { plan } = conversion
  const isStream = output === '-'
  const pathOf = (name: string): string => (isStream ? '-' : join(dirname(output), name))
  if (!isStream)
    await assertNoInput(
      model,
      plan.files.map(({ name }) => pathOf(name)),
    )
  const openSink = (name: string): Promise<ByteSink> => openGuarded(pathOf(name), model.files, { overwrite })
  const files = await markOutputErrors(model, () =>
    runConversion(conversion, openSink, {
      signal,
      onProgress: console.progress.update,
      allowLoss: worstLoss[allowLoss ?? 'none'],
    }),
  )
  if (json) {
    const written = files.map(({ name, size }) => ({ name: pathOf(name), size }))
    await console.json({ ...planJson(plan), file: input, format: plan.source.format, files: written })
  } else {
    for (const line of summarizePlan(plan, console.errorColor)) console.remark(line)
    const what = `${plural(model.tensors.length, 'tensor')}, ${formatSize(plan.size)}`
    console.remark(`${escapeName(pathOf(files[0]!.name))}: ${plan.target}, ${what}`)
  }
  return 0
}

/** No file that the model is made of is written over. */
async function assertNoInput(model: Model, outputs: readonly string[]): Promise<void> {
  for (const output of outputs) for (const file of model.files) await assertNotInput(output, file)
}
