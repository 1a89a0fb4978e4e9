// Where tiles lie. A plane of rows and columns is cut into squares of cells; on level 0 a cell is a value, on level n it stands for 2^n by 2^n of
// them. What is seen follows from the middle of the view, in values, and the zoom, in pixels per value.

export const tileSize = 256
/** Larger cells come from the overview. */
export const maxTileLevel = 3
export const minZoom = -8
export const maxZoom = 6

export interface PlaneSize {
  readonly rows: number
  readonly columns: number
}

export interface MapView {
  /** The middle of the view, in values. */
  readonly x: number
  readonly y: number
  /** The power of two of the zoom: 0 is a pixel for each value. */
  readonly zoom: number
}

export interface ViewSize {
  readonly width: number
  readonly height: number
}

/** A rectangle of tiles; ends are exclusive. */
export interface TileRange {
  readonly level: number
  readonly firstRow: number
  readonly endRow: number
  readonly firstColumn: number
  readonly endColumn: number
}

/** The level whose cells are just not larger than a pixel. */
export const levelFor = (zoom: number): number => Math.max(0, Math.ceil(-zoom - 0.25))

/** The cells of a level, and the level at which a plane is small enough for one overview. */
export function overviewLevel({ rows, columns }: PlaneSize, maxCells = 2 ** 20): number {
  let level = 0
  while (Math.ceil(rows / 2 ** level) * Math.ceil(columns / 2 ** level) > maxCells) level++
  return level
}

const maxForNorms = 2 ** 28

/** Of larger planes, the norms of rows and columns stay those of the overview's cells. */
export const canHaveNorms = ({ rows, columns }: PlaneSize): boolean =>
  rows * columns <= maxForNorms && Math.max(rows, columns) < 2 ** 24

/** A plane of few rows or columns is a band, not a line that nobody sees. */
const band = 64

/** How many pixels a value is wide and high. */
export const cellPixels = (zoom: number, { rows, columns }: PlaneSize) => ({
  across: Math.max(2 ** zoom, band / Math.max(1, columns)),
  down: Math.max(2 ** zoom, band / Math.max(1, rows)),
})

export function visibleTiles(view: MapView, size: ViewSize, plane: PlaneSize, level: number): TileRange {
  const { across, down } = cellPixels(view.zoom, plane)
  const span = tileSize * 2 ** level
  const between = (middle: number, length: number, count: number, pixels: number): [number, number] => {
    const tiles = Math.ceil(count / span)
    const first = Math.floor((middle - length / 2 / pixels) / span)
    const end = Math.ceil((middle + length / 2 / pixels) / span)
    return [Math.max(0, Math.min(tiles, first)), Math.max(0, Math.min(tiles, end))]
  }
  const [firstRow, endRow] = between(view.y, size.height, plane.rows, down)
  const [firstColumn, endColumn] = between(view.x, size.width, plane.columns, across)
  return { level, firstRow, endRow, firstColumn, endColumn }
}

/** The values under a tile; ends are exclusive. */
export function tileSpan(level: number, row: number, column: number, { rows, columns }: PlaneSize) {
  const span = tileSize * 2 ** level
  return {
    rows: [row * span, Math.min(rows, (row + 1) * span)],
    columns: [column * span, Math.min(columns, (column + 1) * span)],
  } as const
}

export const tileKey = (plane: string, level: number, row: number, column: number): string =>
  `${plane}/${level}/${row}/${column}`

export interface Band {
  readonly row: number
  readonly firstColumn: number
  readonly endColumn: number
}

/** Values that one request reads; more tiles side by side go into the next. */
const maxBandValues = 1 << 22

/**
 * Tiles that are missing, as bands: neighbours in a row of tiles are read together, since the rows of a tensor lie one behind the other. The rows
 * nearest to the middle come first.
 */
export function bandsOf(
  range: TileRange,
  isMissing: (row: number, column: number) => boolean,
  middleRow: number,
): Band[] {
  const perBand = Math.max(1, Math.floor(maxBandValues / (tileSize * 2 ** range.level) ** 2))
  const bands: Band[] = []
  for (let row = range.firstRow; row < range.endRow; row++) {
    for (let column = range.firstColumn; column < range.endColumn; column++) {
      if (!isMissing(row, column)) continue
      const last = bands.at(-1)
      const isNext = last?.row === row && last.endColumn === column && column - last.firstColumn < perBand
      if (isNext) bands[bands.length - 1] = { ...last, endColumn: column + 1 }
      else bands.push({ row, firstColumn: column, endColumn: column + 1 })
    }
  }
  return bands.sort((a, b) => Math.abs(a.row - middleRow) - Math.abs(b.row - middleRow))
}

/** All of it, with the longer side as large as the view allows. */
export function fitView({ rows, columns }: PlaneSize, { width, height }: ViewSize): MapView {
  const zoom = Math.log2(Math.min(width / Math.max(1, columns), height / Math.max(1, rows)))
  return { x: columns / 2, y: rows / 2, zoom: clampZoom(zoom) }
}

export const clampZoom = (zoom: number): number => Math.max(minZoom - 8, Math.min(maxZoom, zoom))

/** Keeps some of the plane in sight. */
export function clampView(view: MapView, { rows, columns }: PlaneSize): MapView {
  const within = (at: number, count: number): number => Math.max(0, Math.min(count, at))
  return { x: within(view.x, columns), y: within(view.y, rows), zoom: clampZoom(view.zoom) }
}

/** Zooms by some powers of two so that what lies under a pixel stays there. */
export function zoomAt(view: MapView, size: ViewSize, plane: PlaneSize, by: number, px: number, py: number): MapView {
  const zoom = clampZoom(view.zoom + by)
  const [before, after] = [cellPixels(view.zoom, plane), cellPixels(zoom, plane)]
  const [dx, dy] = [px - size.width / 2, py - size.height / 2]
  return {
    x: view.x + dx / before.across - dx / after.across,
    y: view.y + dy / before.down - dy / after.down,
    zoom,
  }
}

/** The value under a pixel; undefined beside the plane. */
export function cellAt(view: MapView, size: ViewSize, plane: PlaneSize, px: number, py: number) {
  const { across, down } = cellPixels(view.zoom, plane)
  const column = Math.floor(view.x + (px - size.width / 2) / across)
  const row = Math.floor(view.y + (py - size.height / 2) / down)
  return row >= 0 && row < plane.rows && column >= 0 && column < plane.columns ? { row, column } : undefined
}
