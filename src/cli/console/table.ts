// Tables for people. Where the terminal is too narrow, columns that can be done without are left out, and long names are cut in the middle:
// a row never wraps as long as there is something to shorten.
import { shorten, shortenMiddle, widthOf } from './width.js'

export type Paint = (text: string) => string

export interface Column {
  /** What the head of a table says, and what `--columns` calls it. */
  readonly title: string
  readonly align?: 'left' | 'right'
  readonly paint?: Paint | undefined
  /** Where a long cell is cut when the terminal is too narrow. Absent: never. */
  readonly cut?: 'middle' | 'end'
  /** Left out when the terminal is too narrow, the highest number first. */
  readonly spare?: number
}

/** A column of numbers. */
export const rightColumn = (title: string): Column => ({ title, align: 'right' })

/** A column of names. */
export const nameColumn: Column = { title: 'name', cut: 'middle' }

/** What people see, and the value behind it where a program should get that. */
export type Cell = string | { readonly text: string; readonly value: number | string }

export type Row = readonly Cell[]

/** Rows that are made while they are printed. */
export interface RowSource {
  readonly count: number
  row(i: number): Row
}

export const textOf = (cell: Cell | undefined): string =>
  cell === undefined ? '' : typeof cell === 'string' ? cell : cell.text

/** How many rows of a source are measured before the first is printed. Later rows can only make columns wider. */
const measuredRows = 2048
const pieceSize = 8192

/** A wider cell sticks out of its column: a name of a megabyte must not pad every other row with a megabyte of spaces. */
const maxColumnWidth = 256

export interface TableLook {
  /** Paints the titles. Absent: the table has none. */
  readonly head?: Paint | undefined
  /** The width that rows have to fit into. Absent: unlimited. */
  readonly width?: number | undefined
}

/**
 * Columns as wide as their widest cell, two spaces apart; titles only when there are rows. The last column is not padded. A list gives one
 * line at a time; a source gives several, and its rows are not kept in memory.
 */
export function* formatTable(
  columns: readonly Column[],
  rows: readonly Row[] | RowSource,
  { head, width }: TableLook = {},
): Generator<string> {
  const isSource = 'row' in rows
  const count = isSource ? rows.count : rows.length
  if (count === 0) return
  const rowAt = (i: number): Row => (isSource ? rows.row(i) : rows[i]!)
  const titles = columns.map((column) => column.title)
  const natural = columns.map(() => 0)
  const limits = columns.map(({ cut }) => (cut && width !== undefined ? width : undefined))
  if (head) measure(natural, titles, limits)
  const measured = isSource ? Math.min(count, measuredRows) : count
  for (let i = 0; i < measured; i++) measure(natural, rowAt(i), limits)
  const { shown, widths } = fitColumns(columns, natural, width)
  if (head) yield formatRow(columns, shown, widths, titles, { paint: head, width })
  let lines = ''
  for (let i = 0; i < count; i++) {
    const row = rowAt(i)
    if (i >= measured && width === undefined) measure(widths, row, limits)
    lines += `${lines === '' ? '' : '\n'}${formatRow(columns, shown, widths, row, { width })}`
    if (isSource && i < count - 1 && lines.length < pieceSize) continue
    yield lines
    lines = ''
  }
}

/** A cell that can be cut counts up to its limit; any other not at all if it is far too wide. */
function measure(widths: number[], row: Row, limits: readonly (number | undefined)[]): void {
  for (let i = 0; i < widths.length; i++) {
    const limit = limits[i]
    const full = widthOf(textOf(row[i]))
    const width = limit === undefined ? full : Math.min(full, limit)
    if (width > widths[i]! && width <= Math.max(limit ?? 0, maxColumnWidth)) widths[i] = width
  }
}

/** A name is not made shorter than the first of these while a column can be left out, and never shorter than the second. */
const minCutWidths = [36, 8] as const

const gap = 2

/** Which columns are shown, and how wide they are. */
function fitColumns(
  columns: readonly Column[],
  natural: readonly number[],
  width: number | undefined,
): { readonly shown: readonly number[]; readonly widths: number[] } {
  const widths = [...natural]
  let shown = columns.map((_, i) => i)
  if (width === undefined) return { shown, widths }
  const need = (min: number): number =>
    shown.reduce((sum, i) => sum + gap + (columns[i]!.cut ? Math.min(min, natural[i]!) : natural[i]!), 0)
  while (need(minCutWidths[0]) > width) {
    const spare = shown.filter((i) => columns[i]!.spare !== undefined)
    if (spare.length === 0) break
    const worst = spare.reduce((a, b) => (columns[b]!.spare! >= columns[a]!.spare! ? b : a))
    shown = shown.filter((i) => i !== worst)
  }
  let over = need(Number.POSITIVE_INFINITY) - width
  while (over > 0) {
    const cuttable = shown.filter((i) => columns[i]!.cut && widths[i]! > minCutWidths[1])
    if (cuttable.length === 0) break
    const widest = cuttable.reduce((a, b) => (widths[b]! > widths[a]! ? b : a))
    widths[widest]!--
    over--
  }
  return { shown, widths }
}

function formatRow(
  columns: readonly Column[],
  shown: readonly number[],
  widths: readonly number[],
  row: Row,
  { paint, width }: { readonly paint?: Paint; readonly width?: number | undefined },
): string {
  let last = shown.length - 1
  while (last > 0 && textOf(row[shown[last]!]) === '') last--
  let text = ''
  for (let place = 0; place <= last; place++) {
    const i = shown[place]!
    const { align, paint: own, cut } = columns[i]!
    const whole = textOf(row[i])
    const cell = width === undefined || !cut ? whole : (cut === 'end' ? shorten : shortenMiddle)(whole, widths[i]!)
    const use = paint ?? own
    const painted = use && cell !== '' ? use(cell) : cell
    const padding = ' '.repeat(Math.max(0, widths[i]! - widthOf(cell)))
    text += align === 'right' ? `  ${padding}${painted}` : `  ${painted}${place === last ? '' : padding}`
  }
  return text.trimEnd()
}
