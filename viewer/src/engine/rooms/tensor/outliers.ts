// The values that are farthest from 0, found in one pass: a short list that is kept in order, and a bound that almost every value is below.
import { readWindow, type Tensor } from 'tare'
import type { CallContext } from '../../serve.js'
import type { Plane } from './tiles.js'

export interface Outlier {
  readonly row: number
  readonly column: number
  readonly value: number
}

const maxValues = 1 << 20

export async function findOutliers(
  tensor: Tensor,
  plane: Plane,
  count: number,
  { signal, progress, turn }: CallContext,
): Promise<Outlier[]> {
  const { rows, columns, axes, fixed } = plane
  const part = Math.min(columns, maxValues)
  const step = Math.max(1, Math.floor(maxValues / part))
  const buffer = new Float32Array(Math.min(step, rows) * part)
  const found = new LargestFirst(count)
  for (let row = 0; row < rows; row += step) {
    for (let column = 0; column < columns; column += part) {
      const window = {
        rows: [row, Math.min(rows, row + step)],
        columns: [column, Math.min(columns, column + part)],
      } as const
      const { data, columns: width } = await readWindow(tensor, { ...window, axes, fixed, signal }, buffer)
      found.scan(data, width, row, column)
    }
    progress({ done: Math.min(rows, row + step), total: rows })
    await turn()
  }
  return found.outliers
}

/** Values that are no numbers are not outliers; they are counted elsewhere. */
class LargestFirst {
  readonly outliers: Outlier[] = []
  readonly #count: number
  #bound = 0

  constructor(count: number) {
    this.#count = count
  }

  scan(values: Float32Array, width: number, row: number, column: number): void {
    let bound = this.#bound
    for (let i = 0; i < values.length; i++) {
      const value = values[i]!
      if (!(value > bound || value < -bound) || !Number.isFinite(value)) continue
      this.#add({ row: row + Math.floor(i / width), column: column + (i % width), value })
      bound = this.#bound
    }
  }

  #add(outlier: Outlier): void {
    const list = this.outliers
    const size = Math.abs(outlier.value)
    let [low, high] = [0, list.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (Math.abs(list[middle]!.value) >= size) low = middle + 1
      else high = middle
    }
    list.splice(low, 0, outlier)
    if (list.length > this.#count) list.pop()
    if (list.length === this.#count) this.#bound = Math.abs(list.at(-1)!.value)
  }
}
