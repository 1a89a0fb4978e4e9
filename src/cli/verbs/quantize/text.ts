import type { MethodChoice, ModelQuality, Quantization, TensorQuality } from '../../../kit-node.js'
import { fixedCell, sizeCell, valueCell } from '../../console/cells.js'
import type { Console } from '../../console/console.js'
import { type DataTable, dataTable } from '../../console/data-table.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatSize } from '../../console/format-values.js'
import { type Cell, nameColumn, rightColumn } from '../../console/table.js'

/** The error of each tensor where it was measured, else the method that each takes. */
export async function printQuantization(
  console: Console,
  { plan, choices }: Quantization,
  output: string,
  quality: ModelQuality | undefined,
): Promise<void> {
  await console.print(dataTable(quality ? qualityTable(quality) : choicesTable(choices), console, output))
  for (const note of plan.notes) console.remark(`  note: ${escapeText(note)}`)
  const before = choices.reduce((sum, choice) => sum + choice.sizeBefore, 0)
  console.remark(
    `${escapeName(output)}: ${plan.target}, ${formatSize(plan.size)}, from ${formatSize(before)} of weights`,
  )
}

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
  const columns = [
    nameColumn,
    { title: 'from', spare: 1 },
    { title: 'to' },
    rightColumn('bits'),
    rightColumn('rmse'),
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
    valueCell(quality.maxError),
    fixedCell(quality.snr, 2),
    fixedCell(quality.cosine, 6),
  ]
  const rows = tensors.map((tensor) => row(tensor, escapeName(tensor.name)))
  return { columns, rows: total ? [...rows, row(total, 'all of them')] : rows }
}
