import type { MethodChoice, ModelQuality, Quantization, TensorQuality } from '../../../kit-node.js'
import type { Console } from '../../console/console.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatSize, formatValue, plural } from '../../console/format-values.js'
import { formatTable, type Paint, rightColumn } from '../../console/table.js'
import type { Summary } from './summary.js'

interface Outcome {
  readonly output: string
  /** Where it was measured. */
  readonly quality: ModelQuality | undefined
  readonly dryRun: boolean | undefined
}

/** The error of each tensor where it was measured, else the method that each takes; then what was done and what was not. */
export async function printQuantization(
  console: Console,
  { plan, choices }: Quantization,
  summary: Summary,
  { output, quality, dryRun }: Outcome,
): Promise<void> {
  if (quality) await console.print(describeQuality(quality, console.color.underline))
  else await printChoices(console, choices)
  const [quantizes, keeps, is] = dryRun ? ['would quantize', 'would keep', 'would be '] : ['quantized', 'kept', '']
  for (const { name, count } of summary.methods)
    console.remark(`  ${quantizes} ${plural(count, 'tensor')} to ${escapeText(name)}`)
  for (const { name, count } of summary.kept)
    console.remark(`  ${keeps} ${plural(count, 'tensor')}: ${escapeText(name)}`)
  for (const note of plan.notes) console.remark(`  note: ${escapeText(note)}`)
  const { before, after } = summary
  const sizes = `weights ${formatSize(before.bytes)} → ${formatSize(after.bytes)}`
  const bits = `${before.bitsPerWeight.toFixed(2)} → ${after.bitsPerWeight.toFixed(2)} bits per weight`
  console.remark(`${escapeName(output)}: ${is}${plan.target}, ${formatSize(plan.size)}; ${sizes}, ${bits}`)
}

export const printChoices = (console: Console, choices: readonly MethodChoice[]): Promise<void> =>
  console.print(describeChoices(choices, console.color.underline))

/** Why a model has nothing to quantize. */
export const describeNothing = ({ kept }: Summary): string =>
  kept.length === 0
    ? 'there is nothing to quantize: the model has no tensor'
    : `there is nothing to quantize (${kept.map(({ name, count }) => `${plural(count, 'tensor')}: ${name}`).join('; ')})`

function describeChoices(choices: readonly MethodChoice[], head: Paint): Generator<string> {
  const columns = [
    { title: 'name' },
    { title: 'method' },
    rightColumn('before'),
    rightColumn('after'),
    { title: 'reason' },
  ]
  const rows = choices.map(({ name, method, sizeBefore, sizeAfter, reason }) => {
    return [escapeName(name), method ?? 'keep', formatSize(sizeBefore), formatSize(sizeAfter), escapeText(reason ?? '')]
  })
  return formatTable(columns, rows, { head })
}

function describeQuality({ tensors, total }: ModelQuality, head: Paint): Generator<string> {
  const columns = [
    { title: 'name' },
    { title: 'from' },
    { title: 'to' },
    ...['bits', 'rmse', 'max error', 'SNR dB', 'cosine'].map(rightColumn),
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
  return formatTable(columns, total ? [...rows, row(total, 'all of them')] : rows, { head })
}
