import { basename, dirname, join } from 'node:path'
import {
  checkLoss,
  closeModel,
  defaultMethod,
  type Finding,
  formatForOutput,
  type MethodChoice,
  type Model,
  type ModelQuality,
  modelQuality,
  openInput,
  openModel,
  planQuantization,
  type Quantization,
  runConversion,
  type TensorQuality,
} from '../../../node.js'
import type { Context } from '../../context.js'
import { type DamageFlags, damageAllowed, damageJson } from '../../input/damage.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatOptionValues } from '../../format-facts.js'
import { formatSize, formatValue } from '../../console/format-values.js'
import { assertNotInput, markOutputErrors, openGuarded } from '../../output/guarded-output.js'
import { poolOf } from '../../pool-of.js'
import { type QuantizeFlags, quantizeSettings } from '../../flags/quantize.js'
import { checkFormatId, forEachModel } from '../../input/run-inputs.js'
import { unknownOutput } from '../../output/plan.js'
import { type Status, UsageError } from '../../status.js'
import { formatTable, type Paint } from '../../console/table.js'

interface Flags extends QuantizeFlags, DamageFlags {
  readonly output?: string
  readonly to?: string
  readonly method?: string
  readonly only?: readonly string[]
  readonly exclude?: readonly string[]
  readonly report?: boolean
  readonly files?: boolean
  readonly without?: readonly string[]
  readonly overwrite?: boolean
}

export default async function quantize(context: Context, inputs: readonly string[], flags: Flags): Promise<Status> {
  const { console, signal } = context
  const { output, to } = flags
  if (output === undefined || output === '-') throw new UsageError('say where to with -o FILE')
  if (to !== undefined) checkFormatId(to, '--to')
  const target = to ?? formatForOutput(output)?.id
  if (target === undefined) throw unknownOutput()
  const extra = formatOptionValues('write', { ...flags })
  return forEachModel(context, inputs, async (model, input, source) => {
    const { method = defaultMethod(target), only, exclude, files, without } = flags
    const planned = await planQuantization(model, target, {
      ...quantizeSettings(method, flags, console.progress.update),
      ...{ name: basename(output), only, exclude, files, without, extra, signal, pool: poolOf(context) },
    })
    checkLoss(planned.plan)
    const pathOf = (name: string): string => join(dirname(output), name)
    if (flags.dryRun) return show(context, input, model, planned, pathOf, undefined, [])
    for (const { name } of planned.plan.files) await assertNotInput(pathOf(name), source)
    const { damage, onDamage } = damageAllowed(context, flags.allowDamage)
    await markOutputErrors(model, () =>
      runConversion(planned, (name) => openGuarded(pathOf(name), source, { overwrite: flags.overwrite }), {
        signal,
        onProgress: console.progress.update,
        pool: poolOf(context),
        onDamage,
      }),
    )
    const quality = flags.report ? await compare(context, model, pathOf(planned.plan.files[0]!.name)) : undefined
    return show(context, input, model, planned, pathOf, quality, damage)
  })
}

/** Measured on what was written, read back as anybody would. */
async function compare({ console, signal }: Context, model: Model, output: string): Promise<ModelQuality> {
  const written = await openModel(await openInput(output, { signal }), { signal })
  try {
    return await modelQuality(model, written, { signal, onProgress: console.progress.update })
  } finally {
    await closeModel(written)
  }
}

async function show(
  { console, json }: Context,
  input: string,
  model: Model,
  { plan, choices }: Quantization,
  pathOf: (name: string) => string,
  quality: ModelQuality | undefined,
  damage: readonly Finding[],
): Promise<Status> {
  if (json) {
    await console.json({
      file: input,
      format: model.format,
      target: plan.target,
      size: plan.size,
      files: plan.files.map((file) => ({ ...file, name: pathOf(file.name) })),
      choices,
      ...(plan.notes.length > 0 && { notes: plan.notes }),
      ...(quality && { quality }),
      ...damageJson(damage),
    })
    return 0
  }
  const { underline } = console.color
  await console.print(quality ? describeQuality(quality, underline) : describeChoices(choices, underline))
  for (const note of plan.notes) console.remark(`  note: ${escapeText(note)}`)
  const before = choices.reduce((sum, choice) => sum + choice.sizeBefore, 0)
  console.remark(
    `${escapeName(pathOf(plan.files[0]!.name))}: ${plan.target}, ${formatSize(plan.size)}, from ${formatSize(before)} of weights`,
  )
  return 0
}

function* describeChoices(choices: readonly MethodChoice[], head: Paint): Generator<string> {
  const columns = [
    { title: 'name' },
    { title: 'method' },
    { title: 'before', align: 'right' as const },
    { title: 'after', align: 'right' as const },
    { title: 'reason' },
  ]
  const rows = choices.map(({ name, method, sizeBefore, sizeAfter, reason }) => {
    return [escapeName(name), method ?? 'keep', formatSize(sizeBefore), formatSize(sizeAfter), escapeText(reason ?? '')]
  })
  yield* formatTable(columns, rows, { head })
}

function* describeQuality({ tensors, total }: ModelQuality, head: Paint): Generator<string> {
  const right = { align: 'right' as const }
  const columns = [
    { title: 'name' },
    { title: 'from' },
    { title: 'to' },
    { title: 'bits', ...right },
    { title: 'rmse', ...right },
    { title: 'max error', ...right },
    { title: 'SNR dB', ...right },
    { title: 'cosine', ...right },
  ]
  const row = (quality: TensorQuality, name: string): string[] => [
    name,
    quality.from,
    quality.to,
    quality.bitsPerWeight.toFixed(2),
    formatValue(quality.rmse),
    formatValue(quality.maxError),
    quality.snr === null ? '-' : quality.snr.toFixed(2),
    quality.cosine === null ? '-' : quality.cosine.toFixed(6),
  ]
  const rows = tensors.map((tensor) => row(tensor, escapeName(tensor.name)))
  yield* formatTable(columns, total ? [...rows, row(total, 'all of them')] : rows, { head })
}
