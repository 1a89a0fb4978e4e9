// Draws the map: overview below, tiles above it, then borders of blocks, numbers, the cursor and the margins.
import { type CellFigure, inkOn, type Scale } from 'tare/kit'
import { type Palette, paintCells } from '../../colors/paint.js'
import type { Norms, Overview, Tile } from '../../engine/rooms/tensor/tiles.js'
import {
  cellPixels,
  type MapView,
  type PlaneSize,
  type TileRange,
  tileSize,
  type ViewSize,
} from '../../engine/tiles/layout.js'
import { valueText } from '../../parts/format.js'
import { drawMargins, type MarginColors } from './draw-margins.js'

export interface Cursor {
  readonly row: number
  readonly column: number
}

export interface MapScene {
  readonly view: MapView
  /** Of the map alone, without margins. */
  readonly size: ViewSize
  readonly margin: number
  readonly plane: PlaneSize
  readonly range: TileRange | undefined
  tile(row: number, column: number): Tile | undefined
  readonly figure: CellFigure
  readonly scale: Scale
  readonly overviewScale: Scale
  readonly palette: Palette
  /** Names scale and colours: what is painted with the same can be used again. */
  readonly paintKey: string
  readonly overview: Overview | undefined
  readonly norms: Norms | undefined
  /** Values in a block of a row, for borders. */
  readonly blockWidth: number | undefined
  readonly cursor: Cursor | undefined
  readonly colors: MarginColors
}

interface Painted {
  readonly key: string
  readonly canvas: OffscreenCanvas
}

/** By the numbers that they show. */
const painted = new WeakMap<Float32Array, Painted>()

function paintedOf(
  size: { readonly rows: number; readonly columns: number },
  numbers: Float32Array,
  scale: Scale,
  palette: Palette,
  key: string,
): OffscreenCanvas {
  const known = painted.get(numbers)
  if (known?.key === key) return known.canvas
  const canvas = paintCells(size, numbers, scale, palette)
  painted.set(numbers, { key, canvas })
  return canvas
}

export function drawMap(context: CanvasRenderingContext2D, scene: MapScene, ratio: number): void {
  const { view, size, margin, plane, palette, overview } = scene
  const { across, down } = cellPixels(view.zoom, plane)
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.fillStyle = scene.colors.paper
  context.fillRect(0, 0, size.width + margin, size.height + margin)
  const x = (column: number): number => margin + size.width / 2 + (column - view.x) * across
  const y = (row: number): number => margin + size.height / 2 + (row - view.y) * down
  const snap = (at: number): number => Math.round(at * ratio) / ratio
  context.save()
  context.beginPath()
  context.rect(margin, margin, size.width, size.height)
  context.clip()
  context.fillStyle = scene.colors.empty
  context.fillRect(margin, margin, size.width, size.height)
  const draw = (image: OffscreenCanvas, left: number, top: number, right: number, bottom: number): void => {
    const [x0, y0] = [snap(x(left)), snap(y(top))]
    context.drawImage(image, x0, y0, snap(x(right)) - x0, snap(y(bottom)) - y0)
  }
  if (overview && !isCovered(scene)) {
    const cells = overview.columns / plane.columns
    context.imageSmoothingEnabled = across < cells * ratio
    // Its scale is its own: zooming does not paint it again.
    const { overviewScale: scale, figure } = scene
    const key = `${palette.name} ${scale.kind} ${scale.low} ${scale.high} ${figure}`
    draw(paintedOf(overview, overview[figure], scale, palette, key), 0, 0, plane.columns, plane.rows)
  }
  drawTiles(context, scene, draw, ratio)
  if (across >= 6 && scene.blockWidth) drawBlocks(context, scene, x, y)
  if (across >= 31 && down >= 16) drawNumbers(context, scene, x, y)
  if (scene.cursor) outline(context, scene.cursor, x, y, [across, down])
  context.restore()
  drawMargins(context, scene, x, y)
}

/** Nothing that is read later changes the picture. */
export const isSharp = (scene: MapScene): boolean =>
  scene.range ? isCovered(scene) : scene.overview !== undefined && !scene.overview.isSample

/** Tiles hide all of the overview: drawing it as well would take half of a frame. */
function isCovered({ range, tile }: MapScene): boolean {
  if (!range) return false
  for (let row = range.firstRow; row < range.endRow; row++)
    for (let column = range.firstColumn; column < range.endColumn; column++) if (!tile(row, column)) return false
  return true
}

function drawTiles(
  context: CanvasRenderingContext2D,
  { range, tile, plane, scale, palette, paintKey, view }: MapScene,
  draw: (image: OffscreenCanvas, left: number, top: number, right: number, bottom: number) => void,
  ratio: number,
): void {
  if (!range) return
  const span = tileSize * 2 ** range.level
  context.imageSmoothingEnabled = 2 ** (view.zoom + range.level) * ratio < 1
  for (let row = range.firstRow; row < range.endRow; row++) {
    for (let column = range.firstColumn; column < range.endColumn; column++) {
      const cells = tile(row, column)
      if (!cells) continue
      const image = paintedOf(cells, cells.numbers, scale, palette, `${paintKey} ${range.level}`)
      const right = Math.min(plane.columns, (column + 1) * span)
      draw(image, column * span, row * span, right, Math.min(plane.rows, (row + 1) * span))
    }
  }
}

type Place = (index: number) => number

/** The values in view; ends are exclusive. */
function inView({ view, size, plane }: MapScene) {
  const { across, down } = cellPixels(view.zoom, plane)
  const within = (middle: number, length: number, count: number, pixels: number): [number, number] => [
    Math.max(0, Math.floor(middle - length / 2 / pixels)),
    Math.min(count, Math.ceil(middle + length / 2 / pixels)),
  ]
  const [left, right] = within(view.x, size.width, plane.columns, across)
  const [top, bottom] = within(view.y, size.height, plane.rows, down)
  return { left, right, top, bottom }
}

function drawBlocks(context: CanvasRenderingContext2D, scene: MapScene, x: Place, y: Place): void {
  const { left, right, top, bottom } = inView(scene)
  const width = scene.blockWidth!
  context.strokeStyle = scene.colors.line
  context.lineWidth = 1
  context.beginPath()
  for (let column = Math.ceil(left / width) * width; column <= right; column += width) {
    context.moveTo(Math.round(x(column)) + 0.5, y(top))
    context.lineTo(Math.round(x(column)) + 0.5, y(bottom))
  }
  context.stroke()
}

/** On level 0 only: a number stands for one value. */
function drawNumbers(context: CanvasRenderingContext2D, scene: MapScene, x: Place, y: Place): void {
  if (scene.range?.level !== 0) return
  const { across: pixels } = cellPixels(scene.view.zoom, scene.plane)
  const { left, right, top, bottom } = inView(scene)
  const isWide = pixels >= 60
  context.font = `${isWide ? 11 : Math.min(12, Math.round(pixels / 3.6))}px ui-monospace, Menlo, Consolas, monospace`
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  for (let row = top; row < bottom; row++) {
    for (let column = left; column < right; column++) {
      const cells = scene.tile(Math.floor(row / tileSize), Math.floor(column / tileSize))
      if (!cells) continue
      const value = cells.numbers[(row % tileSize) * cells.columns + (column % tileSize)]!
      const place = scene.scale.place(value)
      const color = scene.palette.colors[Math.round(255 * (Number.isNaN(place) ? 0.5 : place))]!
      context.fillStyle = inkOn([color & 255, (color >>> 8) & 255, (color >>> 16) & 255])[0] === 0 ? '#000' : '#fff'
      context.fillText(
        isWide ? valueText(value) : shortNumber(value),
        x(column) + pixels / 2,
        (y(row) + y(row + 1)) / 2,
        pixels - 2,
      )
    }
  }
}

/** What fits a cell: .013, −1.2, 3e−5. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value) || Number.isInteger(value)) return valueText(value)
  const size = Math.abs(value)
  if (size < 1e-3 || size >= 1e4) return value.toExponential(0).replace('-', '−').replace('e+', 'e').replace('e-', 'e−')
  const text = value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3)
  return text.replace('-', '−').replace(/^(−?)0\./, '$1.')
}

function outline(
  context: CanvasRenderingContext2D,
  { row, column }: Cursor,
  x: Place,
  y: Place,
  cell: readonly [width: number, height: number],
): void {
  const [width, height] = [Math.max(cell[0], 5), Math.max(cell[1], 5)]
  const [left, top] = [x(column) - (width - cell[0]) / 2, y(row) - (height - cell[1]) / 2]
  context.lineWidth = 1
  for (const [grow, color] of [
    [1.5, '#fff'],
    [0.5, '#000'],
  ] as const) {
    context.strokeStyle = color
    context.strokeRect(left - grow, top - grow, width + 2 * grow, height + 2 * grow)
  }
}
