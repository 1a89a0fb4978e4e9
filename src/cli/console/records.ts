// The same tables for programs and documents: comma- or tab-separated values, or Markdown. Numbers are written in full.
import { type Cell, type Column, type Row, type RowSource, textOf } from './table.js'

export type RecordFormat = 'csv' | 'tsv' | 'md'

/** One line for the titles, unless they were printed before, and one for each row. */
export function* formatRecords(
  columns: readonly Column[],
  rows: readonly Row[] | RowSource,
  format: RecordFormat,
  { head = true }: { readonly head?: boolean } = {},
): Generator<string> {
  const line = lines[format]
  if (head) {
    yield line(columns.map(({ title }) => title))
    if (format === 'md') yield line(columns.map(({ align }) => (align === 'right' ? '---:' : '---')))
  }
  const isSource = 'row' in rows
  const count = isSource ? rows.count : rows.length
  const field = format === 'md' ? textOf : plainValue
  for (let i = 0; i < count; i++) {
    const row = isSource ? rows.row(i) : rows[i]!
    yield line(columns.map((_, column) => field(row[column])))
  }
}

const plainValue = (cell: Cell | undefined): string => (typeof cell === 'object' ? String(cell.value) : (cell ?? ''))

const lines: Readonly<Record<RecordFormat, (fields: readonly string[]) => string>> = {
  csv: (fields) => fields.map(quote).join(','),
  // There is no quoting in it; tabs and line ends in names are escaped before.
  tsv: (fields) => fields.map((field) => field.replace(/[\t\r\n]/g, ' ')).join('\t'),
  md: (fields) => `| ${fields.map((field) => field.replace(/[\\|`<&]/g, '\\$&')).join(' | ')} |`,
}

const quote = (field: string): string => (/[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)
