// A grid of cells over a matrix whose values arrive in row order, in pieces of any length.
import { cellWords, createCells, poolBand } from '../kernels/numbers/pool.js'

/** An overview of a tensor: figures for each cell of values. */
export interface Pooled {
  /** Cells down and across. */
  readonly rows: number
  readonly columns: number
  /** Of the finite values of each cell, row by row. NaN where there are none. */
  readonly min: Float32Array
  readonly max: Float32Array
  readonly mean: Float64Array
  readonly rms: Float64Array
  /** How many finite values each cell has. */
  readonly count: Float64Array
  /** The matrix that the cells cover. Cell i of n covers the rows from ⌊i·height/n⌋ on; the same for columns. */
  readonly height: number
  readonly width: number
  /** Only some rows of each cell were read. */
  readonly isSample: boolean
}

export interface Pool {
  /** Values from row-major element `first` on. */
  add(first: number, values: Float32Array): void
  finish(isSample: boolean): Pooled
}

/** Where each of `count` cells starts over `length` items, and after the last where it ends. */
export const edgesOf = (length: number, count: number): Uint32Array =>
  Uint32Array.from({ length: count + 1 }, (_, i) => Math.floor((i * length) / count))

export function createPool(height: number, width: number, rows: number, columns: number): Pool {
  const cells = createCells(rows * columns)
  const down = edgesOf(height, rows)
  const across = edgesOf(width, columns)
  const cellOf = (index: number, edges: Uint32Array, length: number, count: number): number => {
    let cell = Math.min(count - 1, Math.floor((index * count) / length))
    while (index < edges[cell]!) cell--
    while (index >= edges[cell + 1]!) cell++
    return cell
  }

  /** Some columns of some rows that belong to the same row of cells. */
  const addBand = (row: number, column: number, length: number, values: Float32Array): void => {
    const place = cellOf(row, down, height, rows) * columns
    if (length === width) {
      poolBand({ values, width, edges: across }, cellsAt(place, columns))
      return
    }
    const first = cellOf(column, across, width, columns)
    const last = cellOf(column + length - 1, across, width, columns)
    const edges = across.slice(first, last + 2).map((edge) => Math.min(length, Math.max(0, edge - column)))
    poolBand({ values, width: length, edges }, cellsAt(place + first, last + 1 - first))
  }
  const cellsAt = (first: number, count: number): Float64Array =>
    cells.subarray(first * cellWords, (first + count) * cellWords)

  return {
    add(first, values) {
      for (let done = 0; done < values.length; ) {
        const column = (first + done) % width
        const row = (first + done - column) / width
        const left = values.length - done
        const isPart = column > 0 || left < width
        const last = down[cellOf(row, down, height, rows) + 1]!
        const count = isPart ? Math.min(width - column, left) : Math.min(Math.floor(left / width), last - row) * width
        addBand(row, column, isPart ? count : width, values.subarray(done, done + count))
        done += count
      }
    },
    finish: (isSample) => ({ rows, columns, height, width, isSample, ...columnsOf(cells) }),
  }
}

function columnsOf(cells: Float64Array): Pick<Pooled, 'min' | 'max' | 'mean' | 'rms' | 'count'> {
  const total = cells.length / cellWords
  const ends = new Float32Array(cells.buffer)
  const min = new Float32Array(total)
  const max = new Float32Array(total)
  const mean = new Float64Array(total)
  const rms = new Float64Array(total)
  const count = new Float64Array(total)
  for (let cell = 0, at = 0; cell < total; cell++, at += cellWords) {
    const values = cells[at + 3]!
    count[cell] = values
    min[cell] = values > 0 ? ends[2 * at]! : Number.NaN
    max[cell] = values > 0 ? ends[2 * at + 1]! : Number.NaN
    mean[cell] = cells[at + 1]! / values
    rms[cell] = Math.sqrt(cells[at + 2]! / values)
  }
  return { min, max, mean, rms, count }
}

/** The same cells with rows and columns exchanged. */
export function transposedCells(pooled: Pooled): Pooled {
  const { rows, columns, height, width } = pooled
  const turn = <T extends Float32Array | Float64Array>(from: T): T => {
    const to = from.slice() as T
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++) to[column * rows + row] = from[row * columns + column]!
    return to
  }
  const { min, max, mean, rms, count, isSample } = pooled
  return {
    rows: columns,
    columns: rows,
    height: width,
    width: height,
    isSample,
    min: turn(min),
    max: turn(max),
    mean: turn(mean),
    rms: turn(rms),
    count: turn(count),
  }
}
