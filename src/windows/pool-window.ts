// An overview of a part of a tensor: any rows and columns of any two of its axes, in cells. For all of a tensor `poolTensor` is faster, since
// it streams.
import { checkAborted, releaseWindow, takeEvenWindow } from '../bytes/index.js'
import type { Tensor } from '../model/index.js'
import { fileOf, planeOf } from './plane.js'
import { createPool, type Pooled } from './pool-cells.js'
import { cellsFor } from './pool-tensor.js'
import { intervalIn, readWindow, type TensorWindowOptions } from './read-window.js'

/** Values that are held at a time. */
const maxValues = 1 << 20

/** There are never more cells than rows or columns. */
export async function poolWindow(
  tensor: Tensor,
  options: TensorWindowOptions,
  width: number,
  height: number,
): Promise<Pooled> {
  const plane = planeOf(tensor, options)
  const [top, bottom] = intervalIn(tensor, 'rows', options.rows, plane.rows)
  const [left, right] = intervalIn(tensor, 'columns', options.columns, plane.columns)
  const [down, across] = [bottom - top, right - left]
  const [rows, columns] = cellsFor(tensor, down, across, height, width)
  const pool = createPool(down, across, rows, columns)
  if (rows * columns === 0) return pool.finish(false)
  // Whole rows, or parts of one where even one is too long.
  const part = Math.min(across, maxValues)
  const some = Math.min(down, Math.max(1, Math.floor(maxValues / across)))
  const buffer = takeEvenWindow(4 * some * part)
  try {
    const values = new Float32Array(buffer.buffer, buffer.byteOffset, some * part)
    for (let row = 0; row < down; row += some) {
      for (let column = 0; column < across; column += part) {
        checkAborted(options.signal, fileOf(tensor))
        const window = {
          ...options,
          rows: [top + row, Math.min(top + row + some, bottom)],
          columns: [left + column, Math.min(left + column + part, right)],
        } as const
        const { data } = await readWindow(tensor, window, values)
        pool.add(row * across + column, data)
      }
    }
  } finally {
    releaseWindow(buffer)
  }
  return pool.finish(false)
}
