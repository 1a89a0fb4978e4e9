// A tensor as a map: a pixel for each value, or for each cell of values where it has more of them than the picture has pixels. Margins show
// the root mean square of each row and column, aligned with the map; a colour bar says what the colours mean.
import type { Tensor } from '../model/index.js'
import { formatDims } from '../model/model.js'
import type { OverviewOptions, Pooled } from '../windows/index.js'
import { poolTensor } from '../windows/index.js'
import {
  contentTop,
  type Drawing,
  defaultSize,
  edge,
  faint,
  heading,
  ink,
  type PictureSize,
  type Pixels,
  rule,
  type Shape,
  text,
} from './drawing.js'
import { type ColorMap, colorMaps, colorTable, noValue } from './parts/colors.js'
import { makeScale, type Scale, type ScaleKind } from './parts/scales.js'
import { countLabel, indexTicks, label } from './parts/ticks.js'
import { visibleText } from './parts/visible-text.js'

export const cellFigures = ['mean', 'rms', 'min', 'max'] as const
/** What a cell of a heat map shows of the values in it. */
export type CellFigure = (typeof cellFigures)[number]

/** How a heat map is drawn. */
export interface HeatmapOptions extends OverviewOptions {
  /** The largest size: the map of a small tensor is less high. */
  readonly size?: PictureSize | undefined
  /** Default: `sigma`. */
  readonly scale?: ScaleKind | undefined
  /** Standard deviations to either side, for `sigma`. Default: 3. */
  readonly sigmas?: number | undefined
  /** Default: blue-orange where 0 is in the middle of the scale, blue-yellow elsewhere. */
  readonly colors?: ColorMap | undefined
  /** What a cell of several values shows. Default: their mean. */
  readonly cells?: CellFigure | undefined
}

const left = 92
const marginSize = 64
const gap = 12
const barWidth = 20
const barLabels = 104
const footer = 40
/** Small tensors do not become tiles larger than this. */
const maxCell = 48

/** How many cells the map has room for. */
export const mapRoom = ({ width, height }: PictureSize): PictureSize => ({
  width: Math.max(1, width - left - marginSize - 2 * gap - barWidth - barLabels - edge),
  height: Math.max(1, height - contentTop - marginSize - gap - footer),
})

/** Streams the tensor once. */
export async function drawTensor(tensor: Tensor, options: HeatmapOptions = {}): Promise<Drawing> {
  const room = mapRoom(options.size ?? defaultSize)
  return drawHeatmap(tensor, await poolTensor(tensor, room.width, room.height, options), options)
}

/** From cells that are there already. */
export function drawHeatmap(tensor: Tensor, pooled: Pooled, options: HeatmapOptions = {}): Drawing {
  const size = options.size ?? defaultSize
  const room = mapRoom(size)
  const figure = options.cells ?? 'mean'
  const values = pooled[figure]
  const scale = makeScale(options.scale ?? 'sigma', values, options.sigmas)
  const colors = options.colors ?? colorsFor(scale)
  const across = stretch(pooled.columns, room.width)
  const down = stretch(pooled.rows, room.height)
  const map = { x: left, y: contentTop, width: pooled.columns * across, height: pooled.rows * down }
  const isPooled = pooled.rows < pooled.height || pooled.columns < pooled.width
  const shown = isPooled
    ? `${figure} of cells of about ${label(pooled.height / pooled.rows)} × ${label(pooled.width / pooled.columns)} values`
    : 'every value'
  const sampled = pooled.isSample ? ', from a sample of the rows' : ''
  const type = (tensor.encoding ?? tensor.dtype).id
  const title = visibleText(tensor.name)
  const subtitle = `${type} ${formatDims(tensor)}: ${shown}${sampled}`
  const shapes: Shape[] = [...heading(size, title, subtitle)]
  if (values.length === 0) shapes.push(text(left, contentTop, 'no values', { color: faint }))
  else {
    shapes.push({ kind: 'image', ...map, pixels: paintCells(pooled, values, scale, colors) })
    shapes.push(...axes(pooled, map), ...margins(pooled, map), ...colorBar(scale, colors, values, map))
  }
  const description = `Heat map of ${title}, ${subtitle}; colours from ${label(scale.low)} to ${label(scale.high)}`
  const height = Math.min(size.height, contentTop + Math.max(map.height + gap + marginSize + footer, minBar + 60))
  return { width: size.width, height, title, description, shapes }
}

/** Two colours where zero is in the middle. */
export function colorsFor({ low, high, valueAt }: Scale): ColorMap {
  const isCentred = low < 0 && Math.abs(valueAt(0.5)) <= 1e-9 * (high - low)
  return colorMaps.find(({ kind }) => (kind === 'diverging') === isCentred)!
}

const stretch = (cells: number, room: number): number =>
  cells === 0 ? 1 : Math.max(1, Math.min(maxCell, Math.floor(room / cells)))

/** A pixel for each cell. */
export function paintCells(
  { rows, columns }: Pick<Pooled, 'rows' | 'columns'>,
  values: ArrayLike<number>,
  scale: Scale,
  colors: ColorMap,
): Pixels {
  const table = colorTable(colors)
  const data = new Uint8ClampedArray(4 * rows * columns)
  for (let i = 0, to = 0; i < rows * columns; i++, to += 4) {
    const place = scale.place(values[i]!)
    if (Number.isNaN(place)) data.set([...noValue, 255], to)
    else {
      const at = 4 * Math.round(place * 255)
      for (let k = 0; k < 4; k++) data[to + k] = table[at + k]!
    }
  }
  return { width: columns, height: rows, data }
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Indexes of rows and columns. */
function axes(pooled: Pooled, map: Box): Shape[] {
  const shapes: Shape[] = []
  for (const row of indexTicks(pooled.height, Math.min(8, Math.floor(map.height / 30)))) {
    const y = map.y + ((row + 0.5) / pooled.height) * map.height
    shapes.push({
      kind: 'line',
      points: [
        [map.x - 6, y],
        [map.x - 2, y],
      ],
      color: faint,
    })
    shapes.push(text(map.x - 10, y - 7, shortIndex(row), { anchor: 'end', color: faint }))
  }
  const bottom = map.y + map.height + gap + marginSize
  for (const column of indexTicks(pooled.width, Math.min(8, Math.floor(map.width / 90)))) {
    const x = map.x + ((column + 0.5) / pooled.width) * map.width
    shapes.push({
      kind: 'line',
      points: [
        [x, bottom + 2],
        [x, bottom + 6],
      ],
      color: faint,
    })
    shapes.push(text(x, bottom + 10, shortIndex(column), { anchor: 'middle', color: faint }))
  }
  return shapes
}

const shortIndex = (index: number): string => (index < 1e6 ? String(index) : `${Number((index / 1e6).toPrecision(3))}M`)

/** The root mean square of every row of cells to the right, of every column below; longer lines are larger values. */
function margins(pooled: Pooled, map: Box): Shape[] {
  const byRow = new Float64Array(pooled.rows)
  const byColumn = new Float64Array(pooled.columns)
  const rowCounts = new Float64Array(pooled.rows)
  const columnCounts = new Float64Array(pooled.columns)
  for (let row = 0, at = 0; row < pooled.rows; row++) {
    for (let column = 0; column < pooled.columns; column++, at++) {
      const count = pooled.count[at]!
      const squares = count === 0 ? 0 : pooled.rms[at]! ** 2 * count
      byRow[row]! += squares
      byColumn[column]! += squares
      rowCounts[row]! += count
      columnCounts[column]! += count
    }
  }
  const normsOf = (squares: Float64Array, counts: Float64Array): Float64Array =>
    squares.map((sum, i) => (counts[i] === 0 ? 0 : Math.sqrt(sum / counts[i]!)))
  const rows = normsOf(byRow, rowCounts)
  const columns = normsOf(byColumn, columnCounts)
  const [right, bottom] = [map.x + map.width + gap, map.y + map.height + gap]
  const [tall, wide] = [map.height / pooled.rows, map.width / pooled.columns]
  const largest = (norms: Float64Array): number => norms.reduce((max, x) => Math.max(max, x), 0)
  const [rowMax, columnMax] = [largest(rows), largest(columns)]
  const shapes: Shape[] = [
    { kind: 'rect', x: right, y: map.y, width: 1, height: map.height, fill: rule },
    { kind: 'rect', x: map.x, y: bottom, width: map.width, height: 1, fill: rule },
  ]
  for (const [i, norm] of rows.entries())
    shapes.push({
      kind: 'rect',
      x: right,
      y: map.y + i * tall,
      width: (marginSize * norm) / (rowMax || 1),
      height: Math.max(1, tall - (tall > 3 ? 1 : 0)),
      fill: faint,
    })
  for (const [i, norm] of columns.entries())
    shapes.push({
      kind: 'rect',
      x: map.x + i * wide,
      y: bottom,
      width: Math.max(1, wide - (wide > 3 ? 1 : 0)),
      height: (marginSize * norm) / (columnMax || 1),
      fill: faint,
    })
  for (const [i, line] of ['largest rms', `row ${label(rowMax)}`, `column ${label(columnMax)}`].entries())
    shapes.push(text(right, bottom + 4 + 14 * i, line, { size: 1, color: faint }))
  return shapes
}

const barSteps = 256
const minBar = 180

function colorBar(scale: Scale, colors: ColorMap, values: ArrayLike<number>, map: Box): Shape[] {
  const x = map.x + map.width + gap + marginSize + gap
  const height = Math.max(minBar, Math.min(map.height, 400))
  const steps = Float64Array.from({ length: barSteps }, (_, i) => scale.valueAt(1 - i / (barSteps - 1)))
  const shapes: Shape[] = [
    {
      kind: 'image',
      x,
      y: map.y,
      width: barWidth,
      height,
      pixels: paintCells({ rows: barSteps, columns: 1 }, steps, scale, colors),
    },
  ]
  for (const place of [1, 0.75, 0.5, 0.25, 0]) {
    const y = map.y + (1 - place) * (height - 1)
    shapes.push({
      kind: 'line',
      points: [
        [x + barWidth + 1, y],
        [x + barWidth + 4, y],
      ],
      color: ink,
    })
    shapes.push(
      text(x + barWidth + 8, Math.min(map.y + height - 14, Math.max(map.y, y - 7)), label(scale.valueAt(place))),
    )
  }
  let missing = 0
  for (let i = 0; i < values.length; i++) if (Number.isNaN(values[i]!)) missing++
  if (missing > 0) {
    shapes.push({ kind: 'rect', x, y: map.y + height + 16, width: barWidth, height: 14, fill: noValue })
    shapes.push(text(x + barWidth + 8, map.y + height + 16, 'not finite', { size: 1 }))
    shapes.push(text(x + barWidth + 8, map.y + height + 26, countLabel(missing), { size: 1 }))
  }
  return shapes
}
