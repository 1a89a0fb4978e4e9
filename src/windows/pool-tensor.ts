// An overview of a tensor in a limited number of cells: the smallest and largest value, the mean and the root mean square of each, in one pass.
import { checkAborted, defaultWindow } from '../bytes/index.js'
import { viewOf } from '../bytes/views.js'
import { failWith, usageCodes } from '../errors/index.js'
import type { Tensor } from '../model/index.js'
import { decodedPayload } from '../transforms/decode.js'
import { rowMajor } from '../transforms/reorder.js'
import { type SampleOptions, sampleBands, storedMatrix } from './bands.js'
import { fileOf, planeOf } from './plane.js'
import { createPool, type Pooled, transposedCells } from './pool-cells.js'
import { requireValues } from './spans.js'

/** Which part of a tensor an overview shows, and how it is read. */
export interface OverviewOptions {
  readonly signal?: AbortSignal | undefined
  /** In values. Where it returns a promise, reading goes on when that is fulfilled: a worker can answer something else in between. */
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => unknown) | undefined
}

const maxCells = 2 ** 24

/**
 * Streams the whole tensor. All axes but the last together are the rows; a vector is one row. There are never more cells than rows or
 * columns.
 */
export async function poolTensor(
  tensor: Tensor,
  width: number,
  height: number,
  options: OverviewOptions = {},
): Promise<Pooled> {
  const [pooled] = await poolTensorSizes(tensor, [[width, height]], options)
  return pooled!
}

/** Several overviews from one pass: for example a map, and the norms of rows and columns beside it. */
export async function poolTensorSizes(
  tensor: Tensor,
  sizes: readonly (readonly [width: number, height: number])[],
  options: OverviewOptions = {},
): Promise<Pooled[]> {
  const { stored, isTurned } = storedFor(tensor)
  const matrix = storedMatrix(stored)
  const pools = sizes.map(([width, height]) => {
    const [rows, columns] = cellCounts(stored, isTurned ? width : height, isTurned ? height : width)
    return createPool(matrix.height, matrix.width, rows, columns)
  })
  const total = matrix.height * matrix.width
  let done = 0
  for await (const chunk of decodedPayload(stored, 'f32')!.chunks(defaultWindow, options.signal)) {
    checkAborted(options.signal, fileOf(tensor))
    const values = viewOf(Float32Array, chunk, chunk.byteLength / 4)
    for (const pool of pools) pool.add(done, values)
    done += values.length
    await options.onProgress?.({ done, total, path: tensor.name })
  }
  return pools.map((pool) => {
    const pooled = pool.finish(false)
    return isTurned ? transposedCells(pooled) : pooled
  })
}

/** The same from a few bands of rows, each of which stands for its neighbours: a first look at a large tensor. Marked as a sample. */
export async function previewTensor(
  tensor: Tensor,
  width: number,
  height: number,
  options: SampleOptions = {},
): Promise<Pooled> {
  const { stored, isTurned } = storedFor(tensor)
  const matrix = storedMatrix(stored)
  // Every column must be seen, so there are only as many bands as whole rows among the values.
  const values = Math.max(options.values ?? 1 << 18, matrix.width)
  const wholeRows = Math.max(1, Math.floor(values / Math.max(1, matrix.width)))
  const bands = Math.min(options.bands ?? 32, isTurned ? width : height, wholeRows)
  const [rows, columns] = cellCounts(stored, bands, isTurned ? height : width)
  const pool = createPool(matrix.height, matrix.width, rows, columns)
  let read = 0
  for await (const band of sampleBands(stored, { ...options, values, bands: rows })) {
    read += band.values.length
    pool.add(band.first, band.values)
  }
  const pooled = pool.finish(read < matrix.height * matrix.width)
  return isTurned ? transposedCells(pooled) : pooled
}

/** A matrix in column order is pooled as its transpose; nothing has to be reordered for that. */
function storedFor(tensor: Tensor): { readonly stored: Tensor; readonly isTurned: boolean } {
  requireValues(tensor)
  planeOf(tensor) // refuses blocks in column order
  const isTurned = tensor.order === 'column' && tensor.shape.length === 2
  return { stored: isTurned ? tensor : rowMajor(tensor), isTurned }
}

function cellCounts(stored: Tensor, rows: number, columns: number): [rows: number, columns: number] {
  const { height, width } = storedMatrix(stored)
  return cellsFor(stored, height, width, rows, columns)
}

/** Rows and columns of cells over a matrix: as many as are asked for, and never more than there are values. */
export function cellsFor(
  tensor: Tensor,
  height: number,
  width: number,
  rows: number,
  columns: number,
): [rows: number, columns: number] {
  const isCount = (count: number): boolean => Number.isInteger(count) && count > 0
  if (!isCount(rows) || !isCount(columns) || rows * columns > maxCells) {
    const message = `${rows} by ${columns} cells were requested; 1 to ${maxCells} are possible`
    failWith(usageCodes.option, { file: fileOf(tensor), path: tensor.name, message })
  }
  const isEmpty = height * width === 0
  return isEmpty ? [0, 0] : [Math.min(rows, height), Math.min(columns, width)]
}
