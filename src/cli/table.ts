export type Paint = (text: string) => string

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  readonly paint?: Paint | undefined
}

type Row = readonly string[]

/** So many rows are looked at before the first is printed; behind them columns grow as they must. */
const measuredRows = 2048
const piece = 8192

/**
 * Columns as wide as their widest cell, two spaces apart; titles only when there are rows. The last column is not padded. Rows that
 * are a function are made while they are printed, several lines at a time, and none is kept: a table can have a million of them.
 */
export function* formatTable(
  columns: readonly Column[],
  rows: readonly Row[] | (() => Iterable<Row>),
  options: { indent?: string; head?: Paint } = {},
): Generator<string> {
  const { indent = '  ', head } = options
  const layout = new ColumnLayout(columns)
  const titles = columns.map((column) => column.title)
  if (head) layout.measure(titles)
  const all = typeof rows === 'function' ? rows : () => rows
  let count = 0
  for (const row of all()) {
    if (typeof rows === 'function' && count++ >= measuredRows) break
    layout.measure(row)
  }
  let isFirst = true
  let lines = ''
  for (const row of all()) {
    if (head && isFirst) {
      layout.measure(titles)
      yield layout.line(titles, indent, head)
    }
    isFirst = false
    layout.measure(row)
    if (typeof rows !== 'function') yield layout.line(row, indent)
    else {
      lines += lines === '' ? layout.line(row, indent) : `\n${layout.line(row, indent)}`
      if (lines.length < piece) continue
      yield lines
      lines = ''
    }
  }
  if (lines !== '') yield lines
}

class ColumnLayout {
  readonly #columns: readonly Column[]
  readonly #widths: number[]
  /** How wide the cells of the row are that was measured last. */
  readonly #own: number[]

  constructor(columns: readonly Column[]) {
    this.#columns = columns
    this.#widths = columns.map(() => 0)
    this.#own = columns.map(() => 0)
  }

  measure(row: Row): void {
    for (let i = 0; i < this.#own.length; i++) {
      const width = widthOf(row[i] ?? '')
      this.#own[i] = width
      if (width > this.#widths[i]!) this.#widths[i] = width
    }
  }

  /** The row that was measured last. */
  line(cells: Row, indent: string, paint?: Paint): string {
    const last = this.#columns.length - 1
    let text = indent
    for (let i = 0; i <= last; i++) {
      const { align, paint: own } = this.#columns[i]!
      const cell = cells[i] ?? ''
      const use = paint ?? own
      const shown = use && cell !== '' ? use(cell) : cell
      const missing = this.#widths[i]! - this.#own[i]!
      if (align === 'right') text += shown.padStart(shown.length + missing)
      else text += i === last ? shown : shown.padEnd(shown.length + missing)
      if (i < last) text += '  '
    }
    return text.trimEnd()
  }
}

/** Code points, which is what most names are made of, one column each. */
function widthOf(text: string): number {
  if (!hasSurrogates(text)) return text.length
  let width = 0
  for (const _ of text) width++
  return width
}

const surrogates = /[\ud800-\udfff]/
const shortText = 16

/** Short texts are looked through sooner than a pattern is started. */
function hasSurrogates(text: string): boolean {
  if (text.length > shortText) return surrogates.test(text)
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0xd800 && text.charCodeAt(i) < 0xe000) return true
  return false
}

/** At most `width` columns, with a mark where something was left out. */
export function shorten(text: string, width: number): string {
  if (text.length <= width) return text
  const characters = [...text]
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join('')}…`
}
