// Which of a million rows are on the screen. Browsers end at some millions of pixels, so above that the scroll bar moves in proportion: each of its
// pixels then stands for more than one of the list.

export interface RowWindow {
  /** The first row to render, and the one behind the last. */
  readonly first: number
  readonly end: number
  /** Where the first of them stands, in pixels from the top of what scrolls. */
  readonly top: number
  /** How high what scrolls is. */
  readonly height: number
}

export const maxHeight = 8_000_000
/** Rows beyond each edge, so that a fast scroll finds them there. */
const spare = 8

export interface RowGeometry {
  readonly count: number
  readonly rowHeight: number
  readonly viewHeight: number
}

/** The first visible row with its fraction, at a scroll position. */
function rowAt({ count, rowHeight, viewHeight }: RowGeometry, scrollTop: number): number {
  const full = count * rowHeight
  if (full <= maxHeight) return scrollTop / rowHeight
  const share = Math.min(1, scrollTop / (maxHeight - viewHeight))
  return (share * (full - viewHeight)) / rowHeight
}

export function visibleRows(geometry: RowGeometry, scrollTop: number): RowWindow {
  const { count, rowHeight, viewHeight } = geometry
  const at = Math.max(0, rowAt(geometry, scrollTop))
  const first = Math.max(0, Math.min(count, Math.floor(at) - spare))
  const end = Math.min(count, Math.ceil(at + viewHeight / rowHeight) + spare)
  return { first, end, top: scrollTop - (at - first) * rowHeight, height: Math.min(maxHeight, count * rowHeight) }
}

/** The scroll position that shows a row, moving as little as possible. */
export function scrollToRow(geometry: RowGeometry, scrollTop: number, row: number): number {
  const { count, rowHeight, viewHeight } = geometry
  const at = rowAt(geometry, scrollTop)
  const visible = viewHeight / rowHeight
  if (row >= at && row + 1 <= at + visible) return scrollTop
  const wanted = row < at ? row : row + 1 - visible
  const full = count * rowHeight
  if (full <= maxHeight) return wanted * rowHeight
  return ((wanted * rowHeight) / (full - viewHeight)) * (maxHeight - viewHeight)
}
