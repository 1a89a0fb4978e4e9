import { basename, dirname, join } from 'node:path'
import {
  checkLoss,
  closeModel,
  defaultMethod,
  type Model,
  type ModelQuality,
  modelQuality,
  openInput,
  openModel,
  planQuantization,
} from '../../../kit-node.js'
import type { Context } from '../../context.js'
import { quantizeSettings } from '../../flags/quantize.js'
import { damageAllowed, damageJson } from '../../input/damage.js'
import { forEachModel } from '../../input/run-inputs.js'
import { writeConversion } from '../../output/conversion.js'
import { formatOfOutput, requireFile, unknownOutput } from '../../output/output.js'
import type { Status } from '../../status.js'
import type { QuantizeOptions } from './index.js'
import { printQuantization } from './text.js'

export default async function quantize(
  context: Context,
  inputs: readonly string[],
  options: QuantizeOptions,
): Promise<Status> {
  const { console, signal, pool, formatOptions: extra } = context
  const output = requireFile(options.output)
  const target = formatOfOutput(output, options.to)?.id
  if (target === undefined) throw unknownOutput()
  const pathOf = (name: string): string => join(dirname(output), name)
  return forEachModel(context, inputs, async (model, input, source) => {
    const { method = defaultMethod(target), only, exclude, files, without, overwrite } = options
    const planned = await planQuantization(model, target, {
      ...quantizeSettings(method, options, console.progress.update),
      ...{ name: basename(output), only, exclude, files, without, extra, signal, pool },
    })
    const { plan, choices } = planned
    checkLoss(plan)
    const { damage, onDamage } = damageAllowed(context, options.allowDamage)
    if (!options.dryRun)
      await writeConversion(context, planned, { pathOf, inputs: [source], overwrite }, { pool, onDamage })
    const written = plan.files.map((file) => ({ ...file, name: pathOf(file.name) }))
    const isMeasured = options.report && !options.dryRun
    const quality = isMeasured ? await compare(context, model, written[0]!.name) : undefined
    if (context.json)
      await console.json({
        file: input,
        format: model.format,
        target: plan.target,
        size: plan.size,
        files: written,
        choices,
        ...(plan.notes.length > 0 && { notes: plan.notes }),
        ...(quality && { quality }),
        ...damageJson(damage),
      })
    else await printQuantization(console, planned, written[0]!.name, quality)
    return 0
  })
}

/** Measured on what was written, which is read back like any other file. */
async function compare({ console, signal }: Context, model: Model, output: string): Promise<ModelQuality> {
  const written = await openModel(await openInput(output, { signal }), { signal })
  try {
    return await modelQuality(model, written, { signal, onProgress: console.progress.update })
  } finally {
    await closeModel(written)
  }
}
