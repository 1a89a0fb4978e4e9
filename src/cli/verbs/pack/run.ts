import { basename, dirname } from 'node:path'
import {
  type Conversion,
  closeModel,
  type Format,
  type Model,
  packFile,
  pathIn,
  planConversion,
  TareError,
} from '../../../kit-node.js'
import { formatSize, plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { reportFailure } from '../../input/run-inputs.js'
import { maxLoss, reportWritten, showPlan, writeConversion } from '../../output/conversion.js'
import { checkStdout, formatOfOutput, unknownOutput } from '../../output/output.js'
import { type Status, UsageError } from '../../status.js'
import type { PackOptions } from './index.js'

export default async function pack(context: Context, words: readonly string[], options: PackOptions): Promise<Status> {
  const [input = ''] = words
  const { console, signal } = context
  const { output, json, data, root, dryRun, allowLoss } = options
  const format = chooseFormat(options)
  checkOptions(context, options)
  let model: Model | undefined
  console.progress.start()
  try {
    model = await packFile(input, { data: typeof json === 'string' ? json : data, root, signal })
    const conversion = await planConversion(model, format.id, {
      name: output === undefined || output === '-' ? `model${format.extensions[0]}` : basename(output),
      deterministic: true,
      extra: context.formatOptions,
      signal,
    })
    return dryRun
      ? await showPlan(context, input, conversion, allowLoss)
      : await carryOut(context, input, conversion, options)
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    const status = await reportFailure(context, input, null, error)
    if (isCalledLikeModel(input)) console.remark('pack takes a description in JSON or YAML; convert takes models')
    return status
  } finally {
    console.progress.finish()
    if (model) await closeModel(model)
  }
}

function chooseFormat({ output, to }: PackOptions): Format {
  const format = formatOfOutput(output, to)
  if (format) return format
  if (output === undefined) throw new UsageError('name the output with -o FILE')
  throw unknownOutput()
}

/** A model in place of a description is a mix-up of verbs. */
function isCalledLikeModel(input: string): boolean {
  return !/\.(?:json|ya?ml|[cm]?[jt]s)(?:#.*)?$/i.test(input) && formatOfOutput(input, undefined) !== undefined
}

function checkOptions(context: Context, { output, dryRun, json, data }: PackOptions): void {
  if (output === undefined && !dryRun) throw new UsageError('name the output with -o FILE')
  if (!dryRun) checkStdout(context, output)
  if (typeof json === 'string' && data !== undefined)
    throw new UsageError('--json FILE and --data FILE mean the same; give one of them')
}

async function carryOut(
  context: Context,
  input: string,
  conversion: Conversion,
  { output = '', allowLoss, overwrite }: PackOptions,
): Promise<Status> {
  const { plan, source: model } = conversion
  const pathOf = (name: string): string => (output === '-' ? '-' : pathIn(dirname(output), name))
  const destination = { pathOf, inputs: model.files, overwrite }
  const files = await writeConversion(context, conversion, destination, { allowLoss: maxLoss(allowLoss) })
  const about = `${plural(model.tensors.length, 'tensor')}, ${formatSize(plan.size)}`
  await reportWritten(context, input, plan, files, about)
  return 0
}
