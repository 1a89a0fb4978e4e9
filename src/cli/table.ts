export type Paint = (text: string) => string

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  readonly paint?: Paint | undefined
}

/** Columns as wide as their widest cell, two spaces apart; titles only when there are rows. The last column is not padded. */
export function* formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: { indent?: string; head?: Paint } = {},
): Generator<string> {
  const { indent = '  ', head } = options
  if (rows.length === 0) return
  const widths = columns.map((column, i) =>
    rows.reduce((width, row) => Math.max(width, widthOf(row[i] ?? '')), head ? widthOf(column.title) : 0),
  )
  const line = (cells: readonly string[], paint: (column: Column) => Paint | undefined): string => {
    const padded = columns.map((column, i) =>
      pad(cells[i] ?? '', widths[i]!, column.align ?? 'left', i === columns.length - 1, paint(column)),
    )
    return (indent + padded.join('  ')).trimEnd()
  }
  if (head) {
    yield line(
      columns.map((column) => column.title),
      () => head,
    )
  }
  for (const row of rows) yield line(row, (column) => column.paint)
}

function pad(text: string, width: number, align: 'left' | 'right', last: boolean, paint: Paint | undefined): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)))
  const shown = paint && text !== '' ? paint(text) : text
  if (align === 'right') return space + shown
  return last ? shown : shown + space
}

/** Code points, which is what most names are made of, one column each. */
function widthOf(text: string): number {
  let width = 0
  for (const _ of text) width++
  return width
}

/** At most `width` columns, with a mark where something was left out. */
export function shorten(text: string, width: number): string {
  if (text.length <= width) return text
  const characters = [...text]
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join('')}…`
}
