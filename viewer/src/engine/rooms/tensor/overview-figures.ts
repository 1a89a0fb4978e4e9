// What is derived from the cells of an overview, before they go to the page: a million of them would keep it busy.
import type { Pooled } from 'tare'
import { type CellFigure, type CountedMoments, momentsOf } from 'tare/kit'
import type { PlaneSize } from '../../tiles/layout.js'
import type { Cells, Norms } from './tiles.js'

export const momentsOfCells = ({ min, max, mean, rms }: Cells): Readonly<Record<CellFigure, CountedMoments>> => ({
  min: momentsOf(min),
  max: momentsOf(max),
  mean: momentsOf(mean),
  rms: momentsOf(rms),
})

/** From the cells of an overview, for the time until every row and column is known. */
export function coarseNorms({ rows, columns, rms }: Cells, plane: PlaneSize): Norms | undefined {
  if (rows * columns === 0 || Math.max(plane.rows, plane.columns) >= 2 ** 24) return undefined
  const squares = { rows: new Float64Array(rows), columns: new Float64Array(columns) }
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) {
      const square = rms[row * columns + column]! ** 2 || 0
      squares.rows[row]! += square / columns
      squares.columns[column]! += square / rows
    }
  const spread = (sums: Float64Array, length: number): Float32Array =>
    Float32Array.from({ length }, (_, i) => Math.sqrt(sums[Math.floor((i * sums.length) / length)]!))
  return { rows: spread(squares.rows, plane.rows), columns: spread(squares.columns, plane.columns) }
}

/** From cells that are whole rows, and cells that are whole columns. */
export const normsOf = (byRow: Pooled, byColumn: Pooled): Norms => ({
  rows: new Float32Array(byRow.rms),
  columns: new Float32Array(byColumn.rms),
})
