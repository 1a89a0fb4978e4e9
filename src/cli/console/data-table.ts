// The table that is a verb's answer, in the form that `--format` and `--columns` ask for.
import { UsageError } from '../status.js'
import type { Console } from './console.js'
import { escapeName } from './escape.js'
import { formatRecords } from './records.js'
import { type Column, formatTable, type Row, type RowSource } from './table.js'

export interface DataTable {
  readonly columns: readonly Column[]
  readonly rows: readonly Row[] | RowSource
}

/** Whether the table is wanted alone: no headings and no sums around it. */
export const wantsRecords = ({ tables }: Console): boolean => tables.format !== undefined && tables.format !== 'table'

/** The titles that were printed last; those of the next input are not printed again. */
const printed = new WeakMap<Console, string>()

/** `file` is the input as it was given; each record names it where there are several. */
export function* dataTable(table: DataTable, console: Console, file: string): Generator<string> {
  const { format, several } = console.tables
  const { columns, rows } = chooseColumns(table, console.tables.columns)
  if (format === undefined || format === 'table') yield* formatTable(columns, rows, console.look)
  else if (format === 'md') yield* formatRecords(columns, rows, format)
  else {
    const all: DataTable = several ? withFile({ columns, rows }, file) : { columns, rows }
    const titles = all.columns.map(({ title }) => title).join()
    yield* formatRecords(all.columns, all.rows, format, { head: printed.get(console) !== titles })
    printed.set(console, titles)
  }
}

/** `--columns max-abs` means the column `max abs`. */
const keyOf = (title: string): string => title.toLowerCase().replace(/[-_]/g, ' ')

/** `known` are the titles of all tables that are printed together; a name that none of them has is a mistake. */
export function chooseColumns(
  { columns, rows }: DataTable,
  wanted: readonly string[] | undefined,
  known: readonly Column[] = columns,
): DataTable {
  if (!wanted) return { columns, rows }
  for (const name of wanted) {
    if (known.some(({ title }) => keyOf(title) === keyOf(name))) continue
    const titles = [...new Set(known.map(({ title }) => title))].join(', ')
    throw new UsageError(`--columns: there is no column ${escapeName(name)} here; there are ${titles}`)
  }
  const places = wanted
    .map((name) => columns.findIndex(({ title }) => keyOf(title) === keyOf(name)))
    .filter((i) => i >= 0)
  // What was requested is not left out on a narrow terminal.
  const chosen = places.map((i): Column => ({ ...columns[i]!, spare: undefined }))
  return { columns: chosen, rows: mapRows(rows, (row) => places.map((i) => row[i] ?? '')) }
}

const withFile = ({ columns, rows }: DataTable, file: string): DataTable => ({
  columns: [{ title: 'file' }, ...columns],
  rows: mapRows(rows, (row) => [escapeName(file), ...row]),
})

const mapRows = (rows: DataTable['rows'], change: (row: Row) => Row): DataTable['rows'] =>
  'row' in rows ? { count: rows.count, row: (i) => change(rows.row(i)) } : rows.map(change)
