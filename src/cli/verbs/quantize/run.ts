import { basename, dirname } from 'node:path'
import {
  checkLoss,
  closeModel,
  defaultMethod,
  failWith,
  type Model,
  type ModelQuality,
  modelQuality,
  openInput,
  openModel,
  pathIn,
  planQuantization,
  type QuantizeSettings,
  settingOf,
  writeCodes,
} from '../../../kit-node.js'
import type { Context } from '../../context.js'
import { quantizeSettings } from '../../flags/quantize.js'
import { importanceFrom } from '../../input/importance.js'
import { nameMapFrom } from '../../input/name-map.js'
import { damageAllowed, damageJson, forEachModel } from '../../input/run-inputs.js'
import { writeConversion } from '../../output/conversion.js'
import { formatOfOutput, requireFile, unknownOutput } from '../../output/output.js'
import { type Status, UsageError } from '../../status.js'
import type { QuantizeOptions } from './index.js'
import { saveMethods } from './save-methods.js'
import { summarize } from './summary.js'
import { describeNothing, printChoices, printQuantization } from './text.js'

export default async function quantize(
  context: Context,
  inputs: readonly string[],
  options: QuantizeOptions,
): Promise<Status> {
  const { console, signal, pool, formatOptions: extra } = context
  const output = requireFile(options.output)
  const target = formatOfOutput(output, options.to)?.id
  if (target === undefined) throw unknownOutput()
  const pathOf = (name: string): string => pathIn(dirname(output), name)
  return forEachModel(context, inputs, async (model, input, source) => {
    const matrix = await importanceFrom(context, options.imatrix)
    const { method = defaultMethod(target), methods, only, exclude, unset, files, without, overwrite, resume } = options
    const set = options.set?.map(([key, value]) => settingOf(key, value))
    const planned = await planQuantization(model, target, {
      ...quantizeSettings(method, options, console.progress.update, matrix),
      ...(methods !== undefined && { methods: await nameMapFrom('--methods', methods) }),
      ...sizeTarget(options),
      ...{ name: basename(output), only, exclude, set, unset, files, without, extra, signal, pool },
    })
    const { plan, choices } = planned
    checkLoss(plan)
    const summary = summarize(planned)
    if (summary.quantized === 0 && options.dryRun && !context.json) await printChoices(console, choices, output)
    if (summary.quantized === 0)
      failWith(writeCodes['nothing-to-quantize'], { file: input, message: describeNothing(summary) })
    if (options.saveMethods !== undefined) await saveMethods(options.saveMethods, choices, [source])
    const { damage, onDamage } = damageAllowed(context, options.allowDamage)
    if (!options.dryRun)
      await writeConversion(context, planned, { pathOf, inputs: [source], overwrite, resume }, { pool, onDamage })
    const written = plan.files.map((file) => ({ ...file, name: pathOf(file.name) }))
    const isMeasured = options.report && !options.dryRun
    const quality = isMeasured ? await compare(context, model, written[0]!.name, matrix?.importance) : undefined
    if (context.json)
      await console.json({
        file: input,
        format: model.format,
        target: plan.target,
        size: plan.size,
        files: written,
        choices,
        summary,
        dryRun: options.dryRun === true,
        ...(plan.notes.length > 0 && { notes: plan.notes }),
        ...(quality && { quality }),
        ...damageJson(damage),
      })
    else
      await printQuantization(console, planned, summary, { output: written[0]!.name, quality, dryRun: options.dryRun })
    return 0
  })
}

function sizeTarget({ targetSize, targetBits, method, methods }: QuantizeOptions): Pick<QuantizeSettings, 'target'> {
  if (targetSize === undefined && targetBits === undefined) return {}
  if (targetSize !== undefined && targetBits !== undefined)
    throw new UsageError('--target-size and --target-bits cannot both be met; leave out one of them')
  const other = method === undefined ? methods && '--methods' : '--method'
  if (other !== undefined) throw new UsageError(`the target decides about methods; leave out ${other}`)
  return { target: targetSize === undefined ? { bits: targetBits! } : { size: targetSize } }
}

/** Measured on what was written, which is read back like any other file. */
async function compare(
  { console, signal }: Context,
  model: Model,
  output: string,
  importance: ReadonlyMap<string, Float32Array> | undefined,
): Promise<ModelQuality> {
  const written = await openModel(await openInput(output, { signal }), { signal })
  try {
    return await modelQuality(model, written, { importance, signal, onProgress: console.progress.update })
  } finally {
    await closeModel(written)
  }
}
