import type { MethodChoice, ModelQuality, Quantization, TensorQuality } from '../../../kit-node.js'
import { fixedCell, sizeCell, valueCell } from '../../console/cells.js'
import type { Console } from '../../console/console.js'
import { type DataTable, dataTable } from '../../console/data-table.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatSize, plural } from '../../console/format-values.js'
import { type Cell, nameColumn, rightColumn } from '../../console/table.js'
import type { Summary } from './summary.js'

interface Outcome {
  readonly output: string
  /** Where it was measured. */
  readonly quality: ModelQuality | undefined
  /** What it was measured against, if not the input. */
  readonly reference: string | undefined
  readonly dryRun: boolean | undefined
}

/** The error of each tensor where it was measured, else the method that each takes; then what was done and what was not. */
export async function printQuantization(
  console: Console,
  { plan, choices }: Quantization,
  summary: Summary,
  { output, quality, reference, dryRun }: Outcome,
): Promise<void> {
  if (quality) await console.print(dataTable(qualityTable(quality), console, output))
  else await printChoices(console, choices, output)
  if (quality && reference !== undefined) console.remark(`  errors are those against ${escapeName(reference)}`)
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

export const printChoices = (console: Console, choices: readonly MethodChoice[], output: string): Promise<void> =>
  console.print(dataTable(choicesTable(choices), console, output))

/** Why a model has nothing to quantize. */
export const describeNothing = ({ kept }: Summary): string =>
  kept.length === 0
    ? 'there is nothing to quantize: the model has no tensor'
    : `there is nothing to quantize (${kept.map(({ name, count }) => `${plural(count, 'tensor')}: ${name}`).join('; ')})`

function choicesTable(choices: readonly MethodChoice[]): DataTable {
  const columns = [
    nameColumn,
    { title: 'method' },
    rightColumn('before'),
    rightColumn('after'),
    { title: 'reason', cut: 'end' as const, spare: 1 },
  ]
  const rows = choices.map(({ name, method, sizeBefore, sizeAfter, reason }) => {
    return [escapeName(name), method ?? 'keep', sizeCell(sizeBefore), sizeCell(sizeAfter), escapeText(reason ?? '')]
  })
  return { columns, rows }
}

function qualityTable({ tensors, total }: ModelQuality): DataTable {
  const isWeighted = tensors.some(({ weightedRmse }) => weightedRmse !== undefined)
  const columns = [
    nameColumn,
    { title: 'from', spare: 1 },
    { title: 'to' },
    rightColumn('bits'),
    rightColumn('rmse'),
    ...(isWeighted ? [rightColumn('weighted')] : []),
    { ...rightColumn('max error'), spare: 3 },
    rightColumn('SNR dB'),
    { ...rightColumn('cosine'), spare: 2 },
  ]
  const row = (quality: TensorQuality, name: string): Cell[] => [
    name,
    quality.from,
    quality.to,
    fixedCell(quality.bitsPerWeight, 2),
    valueCell(quality.rmse),
    ...(isWeighted ? [quality.weightedRmse === undefined ? fixedCell(null, 0) : valueCell(quality.weightedRmse)] : []),
    valueCell(quality.maxError),
    fixedCell(quality.snr, 2),
    fixedCell(quality.cosine, 6),
  ]
  const rows = tensors.map((tensor) => row(tensor, escapeName(tensor.name)))
  return { columns, rows: total ? [...rows, row(total, 'all of them')] : rows }
}
