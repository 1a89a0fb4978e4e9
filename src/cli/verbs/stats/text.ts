import { type HistogramBin, shownDims } from '../../../kit-node.js'
import type { Console } from '../../console/console.js'
import { escapeName } from '../../console/escape.js'
import { formatInteger, formatShape, formatValue } from '../../console/format-values.js'
import { type Column, formatTable, rightColumn } from '../../console/table.js'
import type { Measured } from '../../input/measure-tensors.js'

export function* describeStats(input: string, measured: readonly Measured[], { color }: Console): Generator<string> {
  yield color.bold(escapeName(input))
  yield* formatTable(columns, measured.map(rowOf), { head: color.underline })
}

const columns: readonly Column[] = [
  { title: 'name' },
  { title: 'type' },
  { title: 'shape' },
  ...['min', 'max', 'mean', 'median', 'std', 'zero', 'nan', 'inf'].map(rightColumn),
  { title: 'histogram' },
]

function rowOf({ tensor, stats }: Measured): string[] {
  const head = [escapeName(tensor.name), (tensor.encoding ?? tensor.dtype).id, formatShape(shownDims(tensor))]
  if (stats.reason !== undefined) return [...head, ...Array<string>(8).fill('-'), stats.reason]
  const { min, max, mean, median, std, zero, nan, posInf, negInf, histogram } = stats
  return [
    ...head,
    ...[min, max, mean, median, std].map(formatValue),
    ...[zero, nan, posInf + negInf].map(formatInteger),
    sparkline(histogram),
  ]
}

const bars = '▁▂▃▄▅▆▇█'

/** One character per bin. Only an empty bin is a space. */
function sparkline(histogram: readonly HistogramBin[]): string {
  const max = histogram.reduce((largest, { count }) => Math.max(largest, count), 0)
  const bar = (count: number): string =>
    count === 0 ? ' ' : bars[Math.min(bars.length - 1, Math.floor((count / max) * bars.length))]!
  return histogram.map(({ count }) => bar(count)).join('')
}
