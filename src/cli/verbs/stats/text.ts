import { type HistogramBin, shownDims } from '../../../kit-node.js'
import { integerCell, valueCell } from '../../console/cells.js'
import type { Console } from '../../console/console.js'
import { dataTable, wantsRecords } from '../../console/data-table.js'
import { escapeName } from '../../console/escape.js'
import { formatShape } from '../../console/format-values.js'
import { type Cell, type Column, nameColumn, rightColumn } from '../../console/table.js'
import type { Measured } from '../../input/measure-tensors.js'

export function* describeStats(input: string, measured: readonly Measured[], console: Console): Generator<string> {
  if (!wantsRecords(console)) yield console.color.bold(escapeName(input))
  yield* dataTable({ columns, rows: measured.map(rowOf) }, console, input)
}

const columns: readonly Column[] = [
  nameColumn,
  { title: 'type', spare: 2 },
  { title: 'shape', spare: 1 },
  rightColumn('min'),
  rightColumn('max'),
  rightColumn('mean'),
  { ...rightColumn('median'), spare: 5 },
  { ...rightColumn('std'), spare: 3 },
  { ...rightColumn('zero'), spare: 4 },
  { ...rightColumn('nan'), spare: 4 },
  { ...rightColumn('inf'), spare: 4 },
  { title: 'histogram', cut: 'end', spare: 6 },
]

function rowOf({ tensor, stats }: Measured): Cell[] {
  const head = [escapeName(tensor.name), (tensor.encoding ?? tensor.dtype).id, formatShape(shownDims(tensor))]
  if (stats.reason !== undefined) return [...head, ...Array<string>(8).fill('-'), stats.reason]
  const { min, max, mean, median, std, zero, nan, posInf, negInf, histogram } = stats
  return [
    ...head,
    ...[min, max, mean, median, std].map(valueCell),
    ...[zero, nan, posInf + negInf].map(integerCell),
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
