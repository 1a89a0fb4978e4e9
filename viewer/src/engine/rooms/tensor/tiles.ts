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
import { type CellFigure, type Moments, rangePayload } from 'tare/kit'
import type { Call } from '../../calls.js'
import type { CallContext, Handlers } from '../../serve.js'
import { type PlaneSize, tileSize, tileSpan } from '../../tiles/layout.js'
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

/** Cells row by row. On level 0 there is one figure, the value itself, under every name. */
export interface TileNumbers {
  readonly rows: number
  readonly columns: number
  readonly min: Float32Array
  readonly max: Float32Array
  readonly mean: Float32Array
  readonly rms: Float32Array
}

export interface Overview extends TileNumbers {
  /** Only some rows of each cell were read. */
  readonly isSample: boolean
  readonly moments: Readonly<Record<CellFigure, Moments>>
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
      readonly row: number
      readonly firstColumn: number
      readonly endColumn: number
    },
    readonly TileNumbers[]
  >
  /** In at most this many cells each way; progress in values. `isQuick` reads a few bands only. */
  overview: Call<PlaneAsk & { readonly width: number; readonly height: number; readonly isQuick: boolean }, Overview>
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
      const tiles: TileNumbers[] = []
      for await (const tile of readTiles(tensor, ask, signal)) tiles.push(tile)
      for (const { min, max, mean, rms } of tiles) move(...new Set([min.buffer, max.buffer, mean.buffer, rms.buffer]))
      return tiles
    },
    async overview({ tensor: ref, plane, width, height, isQuick }: TileCalls['overview']['ask'], context: CallContext) {
      const { tensor, isWhole } = planeTensor(await find(ref), plane)
      const { signal } = context
      const pooled = !isWhole
        ? await poolWindow(tensor, { ...plane, rows: undefined, columns: undefined, signal }, width, height)
        : isQuick
          ? await previewTensor(tensor, width, height, { signal })
          : await poolTensor(tensor, width, height, { signal, onProgress: throttled(context) })
      const cells = numbersOf(pooled)
      const norms = coarseNorms(cells, plane)
      const overview: Overview = { ...cells, isSample: pooled.isSample, moments: momentsOfCells(cells), norms }
      context.move(overview.min.buffer, overview.max.buffer, overview.mean.buffer, overview.rms.buffer)
      return overview
    },
    async norms({ tensor: ref, plane }: TileCalls['norms']['ask'], { signal, move }: CallContext) {
      const { tensor, isWhole } = planeTensor(await find(ref), plane)
      const view = { axes: plane.axes, fixed: plane.fixed, signal }
      const [byRow, byColumn] = isWhole
        ? await poolTensorSizes(
            tensor,
            [
              [1, plane.rows],
              [plane.columns, 1],
            ],
            { signal },
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
 * Where the plane is one range of the file, a tensor of that alone, which can be streamed; elsewhere the tensor as it is, to be read by windows.
 */
function planeTensor(tensor: Tensor, plane: Plane): { readonly tensor: Tensor; readonly isWhole: boolean } {
  const { shape, order, data, dtype, encoding } = tensor
  const rank = shape.length
  if (rank <= 2) return { tensor, isWhole: !isTurned(tensor, plane) }
  const { group, regions } = encoding ?? dtype
  const origin = data?.origin
  const size = plane.rows * plane.columns
  const isApart = order !== 'row' || regions !== undefined || !origin || size % group.elements !== 0
  if (isTurned(tensor, plane) || isApart) return { tensor, isWhole: false }
  let index = 0
  for (const [i, dim] of shape.slice(0, -2).entries()) index = index * dim + (plane.fixed?.[i] ?? 0)
  const length = (size / group.elements) * group.bytes
  const part = rangePayload(origin.source, origin.offset + index * length, length)
  return { tensor: { ...tensor, shape: [plane.rows, plane.columns], data: part }, isWhole: true }
}

const numbersOf = ({ rows, columns, min, max, mean, rms }: Pooled): TileNumbers => ({
  rows,
  columns,
  min,
  max,
  mean: new Float32Array(mean),
  rms: new Float32Array(rms),
})

/** A message for each megabyte would be too many. */
function throttled({ progress }: CallContext): (at: { readonly done: number; readonly total: number }) => void {
  let next = 0
  return ({ done, total }) => {
    if (performance.now() < next) return
    next = performance.now() + 50
    progress({ done, total })
  }
}

async function* readTiles(
  tensor: Tensor,
  { plane, layer, level, row, firstColumn, endColumn }: TileCalls['tiles']['ask'],
  signal: AbortSignal,
): AsyncGenerator<TileNumbers, void, void> {
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
    yield numbersOf(await poolWindow(tensor, { ...view, rows, columns }, across, down))
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
): TileNumbers {
  const [rows, columns] = [Math.ceil(height / factor), Math.ceil(width / factor)]
  const mean = new Float32Array(rows * columns)
  for (let row = 0; row < rows; row++) {
    if (factor === 1) {
      mean.set(numbers.subarray(row * stride + from, row * stride + from + width), row * columns)
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
      mean[row * columns + column] = sum / count
    }
  }
  return { rows, columns, min: mean, max: mean, mean, rms: mean }
}
