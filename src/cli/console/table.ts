export type Paint = (text: string) => string

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  readonly paint?: Paint | undefined
}

/** A column of numbers. */
export const rightColumn = (title: string): Column => ({ title, align: 'right' })

type Row = readonly string[]

/** Rows that are made while they are printed. */
export interface RowSource {
  readonly count: number
  row(i: number): Row
}

/** How many rows of a source are measured before the first is printed. Later rows can only make columns wider. */
const measuredRows = 2048
const pieceSize = 8192

/** A wider cell sticks out of its column: a name of a megabyte must not pad every other row with a megabyte of spaces. */
const maxColumnWidth = 256

/**
 * Columns as wide as their widest cell, two spaces apart; titles only when there are rows. The last column is not padded. A list gives one
 * line at a time; a source gives several, and its rows are not kept in memory.
 */
export function* formatTable(
  columns: readonly Column[],
  rows: readonly Row[] | RowSource,
  { head }: { readonly head?: Paint } = {},
): Generator<string> {
  const isSource = 'row' in rows
  const count = isSource ? rows.count : rows.length
  if (count === 0) return
  const rowAt = (i: number): Row => (isSource ? rows.row(i) : rows[i]!)
  const titles = columns.map((column) => column.title)
  const widths = columns.map(() => 0)
  if (head) measure(widths, titles)
  const measured = isSource ? Math.min(count, measuredRows) : count
  for (let i = 0; i < measured; i++) measure(widths, rowAt(i))
  if (head) yield formatRow(columns, widths, titles, head)
  let lines = ''
  for (let i = 0; i < count; i++) {
    const row = rowAt(i)
    if (i >= measured) measure(widths, row)
    lines += `${lines === '' ? '' : '\n'}${formatRow(columns, widths, row)}`
    if (isSource && i < count - 1 && lines.length < pieceSize) continue
    yield lines
    lines = ''
  }
}

function measure(widths: number[], row: Row): void {
  for (let i = 0; i < widths.length; i++) {
    const width = widthOf(row[i] ?? '')
    if (width > widths[i]! && width <= maxColumnWidth) widths[i] = width
  }
}

function formatRow(columns: readonly Column[], widths: readonly number[], row: Row, paint?: Paint): string {
  let last = columns.length - 1
  while (last > 0 && (row[last] ?? '') === '') last--
  let text = ''
  for (let i = 0; i <= last; i++) {
    const cell = row[i] ?? ''
    const { align, paint: own } = columns[i]!
    const use = paint ?? own
    const shown = use && cell !== '' ? use(cell) : cell
    const padding = ' '.repeat(Math.max(0, widths[i]! - widthOf(cell)))
    text += align === 'right' ? `  ${padding}${shown}` : `  ${shown}${i === last ? '' : padding}`
  }
  return text.trimEnd()
}

const surrogates = /[\ud800-\udfff]/

/** In code points, each taken for one column. */
const widthOf = (text: string): number => (surrogates.test(text) ? [...text].length : text.length)

/** At most `width` columns, with a mark where something was left out. */
export function shorten(text: string, width: number): string {
  if (text.length <= width) return text
  const characters = [...text]
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join('')}…`
}
