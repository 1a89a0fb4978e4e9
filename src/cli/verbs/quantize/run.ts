import { basename, dirname } from 'node:path'
import {
  asWritten,
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
  type Quantization,
  type QuantizeSettings,
  type Tensor,
  usageCodes,
  writeCodes,
} from '../../../kit-node.js'
import type { Context } from '../../context.js'
import { quantizeSettings } from '../../flags/quantize.js'
import { allowedDamage, damageJson } from '../../input/damage.js'
import { importanceFrom } from '../../input/importance.js'
import { nameMapFrom } from '../../input/name-map.js'
import { forEachModel, formatNamed, type Opened, openModels } from '../../input/run-inputs.js'
import { settingsFrom } from '../../input/settings.js'
import { writeConversion } from '../../output/conversion.js'
import { formatOfOutput, requireFile, unknownOutput } from '../../output/output.js'
import { type Status, UsageError } from '../../status.js'
import type { QuantizeOptions } from './index.js'
import { saveMethods } from './save-methods.js'
import { summarize } from './summary.js'
import { describeNothing, printChoices, printQuantization } from './text.js'

/** A plan needs no file, only what the format is. */
function outputOf({ output, to, dryRun }: QuantizeOptions): string {
  if (output !== undefined || to === undefined || !dryRun) return requireFile(output)
  return `model${formatNamed(to, '--to').extensions[0]}`
}

export default async function quantize(
  context: Context,
  inputs: readonly string[],
  options: QuantizeOptions,
): Promise<Status> {
  const { console, signal, pool, formatOptions: extra } = context
  const output = outputOf(options)
  const target = formatOfOutput(output, options.to)?.id
  if (target === undefined) throw unknownOutput()
  const pathOf = (name: string): string => pathIn(dirname(output), name)
  return forEachModel(context, inputs, async (model, input, source) => {
    const matrix = await importanceFrom(context, options.imatrix)
    const { method = defaultMethod(target), methods, only, exclude, unset, files, without, overwrite, resume } = options
    const set = options.set && settingsFrom(options.set)
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
    const { damage, onDamage } = options.allowDamage ? allowedDamage(context) : {}
    const { reference } = options
    const original = await openReference(context, reference, planned)
    const written = plan.files.map((file) => ({ ...file, name: pathOf(file.name) }))
    let quality: ModelQuality | undefined
    try {
      if (!options.dryRun)
        await writeConversion(context, planned, { pathOf, inputs: [source], overwrite, resume }, { pool, onDamage })
      const measured = { path: written[0]!.name, target, importance: matrix?.importance }
      if ((options.report || original) && !options.dryRun)
        quality = await compare(context, original?.model ?? model, measured)
    } finally {
      if (original) await closeModel(original.model)
      await original?.source.close()
    }
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
        ...(quality && { quality, ...(reference !== undefined && { reference }) }),
        ...damageJson(damage),
      })
    else
      await printQuantization(console, planned, summary, {
        output: written[0]!.name,
        quality,
        reference,
        dryRun: options.dryRun,
      })
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

/** The model that errors are measured against, if it is not the input. It must have something to compare before anything is written. */
async function openReference(
  context: Context,
  path: string | undefined,
  planned: Quantization,
): Promise<Opened | undefined> {
  if (path === undefined) return undefined
  const [opened] = await openModels(context, [path])
  const { model, plan } = planned
  const options = { name: plan.files[0]!.name, signal: context.signal }
  const before = await asWritten(opened!.model, model, plan.target, options)
  const typeOf = ({ encoding, dtype }: Tensor): string => (encoding ?? dtype).id
  const types = new Map(model.tensors.map((tensor) => [tensor.name, typeOf(tensor)]))
  if (before.tensors.some((tensor) => types.has(tensor.name) && types.get(tensor.name) !== typeOf(tensor)))
    return opened
  await closeModel(opened!.model)
  await opened!.source.close()
  const message = 'there is nothing to compare: it has none of the tensors that are quantized, by name and shape'
  return failWith(usageCodes.option, { file: path, message })
}

interface Measured {
  readonly path: string
  readonly target: string
  readonly importance: ReadonlyMap<string, Float32Array> | undefined
}

/** Measured on what was written, which is read back like any other file. */
async function compare(
  { console, signal }: Context,
  original: Model,
  { path, target, importance }: Measured,
): Promise<ModelQuality> {
  const written = await openModel(await openInput(path, { signal }), { signal })
  try {
    const before = await asWritten(original, written, target, { name: basename(path), signal })
    return await modelQuality(before, written, { importance, signal, onProgress: console.progress.update })
  } finally {
    await closeModel(written)
  }
}
