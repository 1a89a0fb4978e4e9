import type { Lost } from '../../../kit-node.js'
import { sizeCell } from '../../console/cells.js'
import type { Console } from '../../console/console.js'
import { wantsRecords } from '../../console/data-table.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatInteger } from '../../console/format-values.js'
import { type Column, formatTable, rightColumn } from '../../console/table.js'
import type { InspectOptions } from './index.js'

const columns: readonly Column[] = [
  { title: 'name', cut: 'middle' },
  rightColumn('size'),
  { title: 'reason', cut: 'end', spare: 1 },
]

const defaultLimit = 10

/** What the index names and the file does not hold in full. */
export function* describeLost(
  lost: readonly Lost[],
  { all, limit }: InspectOptions,
  console: Console,
): Generator<string> {
  if (lost.length === 0 || wantsRecords(console)) return
  const { color, look } = console
  const count = all ? lost.length : (limit ?? defaultLimit)
  yield color.bold('missing')
  const rows = lost
    .slice(0, count)
    .map(({ subject, name, length, reason }) => [
      name === undefined ? subject : escapeName(name),
      length === undefined ? '' : sizeCell(length),
      escapeText(reason),
    ])
  yield* formatTable(columns, rows, look)
  if (lost.length > count) yield color.dim(`  … and ${formatInteger(lost.length - count)} more (--all shows them)`)
}
