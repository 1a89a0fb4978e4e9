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
 * Columns as wide as their widest cell, two spaces apart; titles only when there are rows. The last column is not padded. Rows of a source
 * are not kept in memory, and come several lines at a time.
 */
export function* formatTable(
  columns: readonly Column[],
  rows: readonly Row[] | RowSource,
  options: { indent?: string; head?: Paint } = {},
): Generator<string> {
  const { indent = '  ', head } = options
  const layout = new ColumnLayout(columns, indent)
  const titles = columns.map((column) => column.title)
  if ('row' in rows) {
    if (rows.count > 0) yield* formatSource(layout, rows, head && titles, head)
    return
  }
  if (rows.length === 0) return
  if (head) layout.measure(titles)
  for (const row of rows) layout.measure(row)
  if (head) yield layout.line(titles, head)
  for (const row of rows) yield layout.line(row)
}

function* formatSource(
  layout: ColumnLayout,
  rows: RowSource,
  titles: Row | undefined,
  head: Paint | undefined,
): Generator<string> {
  if (titles) layout.measure(titles)
  for (let i = 0; i < Math.min(rows.count, measuredRows); i++) layout.measure(rows.row(i))
  if (titles) yield layout.line(titles, head)
  const progress = { next: 0 }
  while (progress.next < rows.count) yield linesFrom(layout, rows, progress)
}

/** As many lines as make a piece. A plain function, because a generator that yields each line is slower. */
function linesFrom(layout: ColumnLayout, rows: RowSource, progress: { next: number }): string {
  let lines = layout.line(rows.row(progress.next++))
  while (progress.next < rows.count && lines.length < pieceSize) lines += `\n${layout.line(rows.row(progress.next++))}`
  return lines
}

/** Remembers the last cell of each column as it was printed, because neighbouring rows often repeat it. */
class ColumnLayout {
  readonly #indent: string
  readonly #isRight: boolean[]
  readonly #paints: (Paint | undefined)[]
  readonly #widths: number[]
  readonly #cells: string[]
  /** The width of these cells, and how they look in a line with the space before them; empty until they are printed. */
  readonly #own: number[]
  readonly #padded: string[]

  constructor(columns: readonly Column[], indent: string) {
    this.#indent = indent
    this.#isRight = columns.map(({ align }) => align === 'right')
    this.#paints = columns.map((column) => column.paint)
    this.#widths = columns.map(() => 0)
    this.#cells = columns.map(() => '')
    this.#own = columns.map(() => 0)
    this.#padded = columns.map(() => '')
  }

  measure(row: Row): void {
    for (let i = 0; i < this.#cells.length; i++) this.#take(i, row[i] ?? '')
  }

  #take(i: number, cell: string): void {
    this.#cells[i] = cell
    this.#own[i] = widthOf(cell)
    if (this.#own[i]! > this.#widths[i]! && this.#own[i]! <= maxColumnWidth) this.#widths[i] = this.#own[i]!
    this.#padded[i] = ''
  }

  line(cells: Row, paint?: Paint): string {
    let last = this.#cells.length - 1
    while (last > 0 && (cells[last] ?? '') === '') last--
    let text = ''
    for (let i = 0; i <= last; i++) {
      const cell = cells[i] ?? ''
      if (cell !== this.#cells[i]) this.#take(i, cell)
      const isOpen = i === last && !this.#isRight[i]
      if (paint || isOpen) text += this.#shown(i, cell, paint, isOpen)
      else text += this.#padded[i] ||= this.#shown(i, cell, undefined, false)
    }
    const end = cells[last] ?? ''
    const isPlain = end !== '' && end.charCodeAt(end.length - 1) > 0x20 && end.charCodeAt(end.length - 1) < 0x7f
    return isPlain ? text : text.trimEnd()
  }

  #shown(i: number, cell: string, paint: Paint | undefined, isOpen: boolean): string {
    const use = paint ?? this.#paints[i]
    const shown = use && cell !== '' ? use(cell) : cell
    const width = isOpen ? 0 : shown.length + Math.max(0, this.#widths[i]! - this.#own[i]!)
    return (i === 0 ? this.#indent : '  ') + (this.#isRight[i] ? shown.padStart(width) : shown.padEnd(width))
  }
}

/** In code points, each taken for one column. */
function widthOf(text: string): number {
  if (!hasSurrogates(text)) return text.length
  let width = 0
  for (const _ of text) width++
  return width
}

const surrogates = /[\ud800-\udfff]/
const shortText = 16

/** For short texts a loop is faster than a pattern. */
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
