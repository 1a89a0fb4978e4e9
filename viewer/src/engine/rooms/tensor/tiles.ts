// What is read of a tensor for the screen that shows it: tiles of values and codes, an overview, norms, a histogram, outliers.
import {
  hasCodes,
  type Pooled,
  poolTensor,
  poolTensorSizes,
  poolWindow,
  previewTensor,
  readCodes,
  readWindow,
  type SampleStats,
  sampleStats,
  type Tensor,
} from 'tare'
import { type CellFigure, type CountedMoments, rangePayload } from 'tare/kit'
import type { Call } from '../../calls.js'
import type { CallContext, Handlers } from '../../serve.js'
import { type PlaneSize, tileSize, tileSpan } from '../../tiles/layout.js'
import type { Progress } from '../../wire.js'
import type { MeasuredTensor } from '../lab/measure.js'
import { type CodeLevels, countCodes } from './code-levels.js'
import { type Layer, readLayer } from './layers.js'
import { findOutliers, type Outlier } from './outliers.js'
import { coarseNorms, momentsOfCells, normsOf } from './overview-figures.js'
import type { TensorRef } from './tensor.js'

/** Two axes of a tensor, at an index of each other one. */
export interface Plane extends PlaneSize {
  readonly axes?: readonly [rows: number, columns: number] | undefined
  readonly fixed?: readonly number[] | undefined
}

/** One figure of each cell, row by row; on level 0 the value itself. */
export interface Tile {
  readonly rows: number
  readonly columns: number
  readonly numbers: Float32Array
}

/** All figures of each cell, row by row. */
export interface Cells {
  readonly rows: number
  readonly columns: number
  readonly min: Float32Array
  readonly max: Float32Array
  readonly mean: Float32Array
  readonly rms: Float32Array
}

export interface Overview extends Cells {
  /** Only some rows of each cell were read. */
  readonly isSample: boolean
  readonly moments: Readonly<Record<CellFigure, CountedMoments>>
  /** By the rows and columns of cells; absent where there are too many rows or columns. */
  readonly norms?: Norms | undefined
}

export interface Norms {
  /** Root mean square of each row and of each column. */
  readonly rows: Float32Array
  readonly columns: Float32Array
}

export interface CellFacts {
  readonly value: number
  readonly code?: number | undefined
  readonly scale?: number | undefined
  readonly offset?: number | undefined
}

interface PlaneAsk {
  readonly tensor: TensorRef
  readonly plane: Plane
}

export interface TileCalls {
  /** Tiles side by side, read together. */
  tiles: Call<
    PlaneAsk & {
      readonly layer: Layer
      readonly level: number
      readonly figure: CellFigure
      readonly row: number
      readonly firstColumn: number
      readonly endColumn: number
    },
    readonly Tile[]
  >
  /** In at most this many cells each way; progress in values. `isQuick` reads a few bands only. `rows` are a part of the plane's, all unless stated. */
  overview: Call<
    PlaneAsk & {
      readonly width: number
      readonly height: number
      readonly isQuick: boolean
      readonly rows?: readonly [from: number, to: number] | undefined
    },
    Overview
  >
  norms: Call<PlaneAsk, Norms>
  /** One value and, in a quantized tensor, what it is made of: value = scale · code + offset. */
  cell: Call<PlaneAsk & { readonly row: number; readonly column: number }, CellFacts>
  histogram: Call<{ readonly tensor: TensorRef; readonly bins: number }, SampleStats>
  outliers: Call<PlaneAsk & { readonly count: number }, readonly Outlier[]>
  codeLevels: Call<PlaneAsk, CodeLevels>
  /** Every quantization method on a sample; progress in methods. */
  measure: Call<{ readonly tensor: TensorRef }, MeasuredTensor>
}

/** The same in every worker, but for how it finds a tensor. */
export function tileHandlers(find: (ref: TensorRef) => Promise<Tensor>): Handlers {
  return {
    async tiles(ask: TileCalls['tiles']['ask'], { signal, move }: CallContext) {
      const tensor = await find(ask.tensor)
      const tiles: Tile[] = []
      for await (const tile of readTiles(tensor, ask, signal)) tiles.push(tile)
      move(...tiles.map(({ numbers }) => numbers.buffer))
      return tiles
    },
    async overview(
      { tensor: ref, plane, width, height, isQuick, rows = [0, plane.rows] }: TileCalls['overview']['ask'],
      context: CallContext,
    ) {
      const { tensor, isWhole } = planeTensor(await find(ref), plane, rows)
      const { signal } = context
      const pooled = !isWhole
        ? await poolWindow(tensor, { ...plane, rows, columns: undefined, signal }, width, height)
        : isQuick
          ? await previewTensor(tensor, width, height, { signal })
          : await poolTensor(tensor, width, height, { signal, onProgress: throttled(context) })
      const cells = cellsOf(pooled)
      const norms = coarseNorms(cells, { rows: rows[1] - rows[0], columns: plane.columns })
      const overview: Overview = { ...cells, isSample: pooled.isSample, moments: momentsOfCells(cells), norms }
      context.move(overview.min.buffer, overview.max.buffer, overview.mean.buffer, overview.rms.buffer)
      return overview
    },
    async norms({ tensor: ref, plane }: TileCalls['norms']['ask'], { signal, move, turn }: CallContext) {
      const { tensor, isWhole } = planeTensor(await find(ref), plane)
      const view = { axes: plane.axes, fixed: plane.fixed, signal }
      const [byRow, byColumn] = isWhole
        ? await poolTensorSizes(
            tensor,
            [
              [1, plane.rows],
              [plane.columns, 1],
            ],
            { signal, onProgress: turn },
          )
        : [await poolWindow(tensor, view, 1, plane.rows), await poolWindow(tensor, view, plane.columns, 1)]
      const { rows, columns } = normsOf(byRow!, byColumn!)
      move(rows.buffer, columns.buffer)
      return { rows, columns }
    },
    async cell(
      { tensor: ref, plane, row, column }: TileCalls['cell']['ask'],
      { signal }: CallContext,
    ): Promise<CellFacts> {
      const tensor = await find(ref)
      const window = { rows: [row, row + 1], columns: [column, column + 1], signal } as const
      const { data } = await readWindow(tensor, { ...window, axes: plane.axes, fixed: plane.fixed })
      const facts = { value: data[0]! }
      const canShowCodes =
        tensor.order === 'row' && !isTurned(tensor, plane) && hasCodes(tensor.encoding ?? tensor.dtype)
      if (!canShowCodes) return facts
      const { codes, scales, offsets } = await readCodes(tensor, { ...window, fixed: plane.fixed })
      return { ...facts, code: codes[0], scale: scales[0], ...(offsets && { offset: offsets[0] }) }
    },
    async histogram({ tensor, bins }: TileCalls['histogram']['ask'], { signal }: CallContext) {
      return sampleStats(await find(tensor), { bins, values: 1 << 18, signal })
    },
    async outliers({ tensor, plane, count }: TileCalls['outliers']['ask'], context: CallContext) {
      return findOutliers(await find(tensor), plane, count, context)
    },
    async codeLevels({ tensor, plane }: TileCalls['codeLevels']['ask'], { signal }: CallContext) {
      return countCodes(await find(tensor), plane, signal)
    },
    async measure({ tensor }: TileCalls['measure']['ask'], context: CallContext) {
      const { measureTensor } = await import('../lab/measure.js')
      return measureTensor(await find(tensor), context)
    },
  }
}

/** Other axes than the last two. */
const isTurned = ({ shape: { length } }: Tensor, { axes }: Plane): boolean =>
  axes !== undefined && (axes[0] !== length - 2 || axes[1] !== length - 1)

/**
 * Where these rows of the plane are one range of the file, a tensor of that alone, which can be streamed; elsewhere the tensor as it is, to be read
 * by windows.
 */
function planeTensor(
  tensor: Tensor,
  plane: Plane,
  [from, to]: readonly [from: number, to: number] = [0, plane.rows],
): { readonly tensor: Tensor; readonly isWhole: boolean } {
  const { shape, order, data, dtype, encoding } = tensor
  if (isTurned(tensor, plane)) return { tensor, isWhole: false }
  if (shape.length <= 2 && to - from === plane.rows) return { tensor, isWhole: true }
  const { group, regions } = encoding ?? dtype
  const origin = data?.origin
  let index = 0
  for (const [i, dim] of shape.slice(0, -2).entries()) index = index * dim + (plane.fixed?.[i] ?? 0)
  const first = (index * plane.rows + from) * plane.columns
  const size = (to - from) * plane.columns
  const isAligned = first % group.elements === 0 && size % group.elements === 0
  if (order !== 'row' || regions !== undefined || !origin || !isAligned) return { tensor, isWhole: false }
  const bytesOf = (elements: number): number => (elements / group.elements) * group.bytes
  const part = rangePayload(origin.source, origin.offset + bytesOf(first), bytesOf(size))
  return { tensor: { ...tensor, shape: [to - from, plane.columns], data: part }, isWhole: true }
}

const cellsOf = ({ rows, columns, min, max, mean, rms }: Pooled): Cells => ({
  rows,
  columns,
  min,
  max,
  mean: new Float32Array(mean),
  rms: new Float32Array(rms),
})

/** A message for each megabyte would be too many; what is in view comes first. */
function throttled({ progress, turn }: CallContext): (at: Progress) => Promise<void> {
  let next = 0
  return ({ done, total }) => {
    if (performance.now() >= next) {
      next = performance.now() + 50
      progress({ done, total })
    }
    return turn()
  }
}

async function* readTiles(
  tensor: Tensor,
  { plane, layer, level, figure, row, firstColumn, endColumn }: TileCalls['tiles']['ask'],
  signal: AbortSignal,
): AsyncGenerator<Tile, void, void> {
  const span = tileSize * 2 ** level
  const rows = tileSpan(level, row, 0, plane).rows
  const columns = [firstColumn * span, Math.min(plane.columns, endColumn * span)] as const
  const view = { axes: plane.axes, fixed: plane.fixed, signal }
  if (layer !== 'values' || level === 0) {
    const numbers =
      layer === 'values'
        ? (await readWindow(tensor, { ...view, rows, columns })).data
        : await readLayer(tensor, layer, { rows, columns, fixed: plane.fixed, signal })
    const width = columns[1] - columns[0]
    for (let column = firstColumn; column < endColumn; column++) {
      const from = column * span - columns[0]
      yield cutTile(numbers, width, rows[1] - rows[0], from, Math.min(width, from + span) - from, 2 ** level)
    }
    return
  }
  for (let column = firstColumn; column < endColumn; column++) {
    const { columns } = tileSpan(level, row, column, plane)
    const across = Math.ceil((columns[1] - columns[0]) / 2 ** level)
    const down = Math.ceil((rows[1] - rows[0]) / 2 ** level)
    const pooled = await poolWindow(tensor, { ...view, rows, columns }, across, down)
    yield { rows: pooled.rows, columns: pooled.columns, numbers: new Float32Array(pooled[figure]) }
  }
}

/** Some columns of a band. Codes have no kernel of their own: on higher levels each cell shows the mean of its square. */
function cutTile(
  numbers: Float32Array,
  stride: number,
  height: number,
  from: number,
  width: number,
  factor: number,
): Tile {
  const [rows, columns] = [Math.ceil(height / factor), Math.ceil(width / factor)]
  const cells = new Float32Array(rows * columns)
  for (let row = 0; row < rows; row++) {
    if (factor === 1) {
      cells.set(numbers.subarray(row * stride + from, row * stride + from + width), row * columns)
      continue
    }
    for (let column = 0; column < columns; column++) {
      const [bottom, right] = [Math.min(height, (row + 1) * factor), Math.min(width, (column + 1) * factor)]
      let [sum, count] = [0, 0]
      for (let y = row * factor; y < bottom; y++)
        for (let x = column * factor; x < right; x++) {
          sum += numbers[y * stride + from + x]!
          count++
        }
      cells[row * columns + column] = sum / count
    }
  }
  return { rows, columns, numbers: cells }
}
