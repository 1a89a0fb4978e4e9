import type { MethodChoice, ModelQuality, Quantization, TensorQuality } from '../../../kit-node.js'
import type { Console } from '../../console/console.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatSize, formatValue } from '../../console/format-values.js'
import { formatTable, type Paint, rightColumn } from '../../console/table.js'

/** The error of each tensor where it was measured, else the method that each takes. */
export async function printQuantization(
  console: Console,
  { plan, choices }: Quantization,
  output: string,
  quality: ModelQuality | undefined,
): Promise<void> {
  const { underline } = console.color
  await console.print(quality ? describeQuality(quality, underline) : describeChoices(choices, underline))
  for (const note of plan.notes) console.remark(`  note: ${escapeText(note)}`)
  const before = choices.reduce((sum, choice) => sum + choice.sizeBefore, 0)
  console.remark(
    `${escapeName(output)}: ${plan.target}, ${formatSize(plan.size)}, from ${formatSize(before)} of weights`,
  )
}

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
