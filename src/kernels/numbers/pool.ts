// Pooling: minimum, maximum, sum, sum of squares and number of the finite values in each cell of a row of cells. By the compiled kernel, or
// its plain twin; both add in the same order.
import { releaseWindow, takeEvenWindow } from '../../bytes/index.js'
import { bytesOf } from '../../bytes/views.js'
import { type NumbersModule, numbersModule, tileSize } from './module.js'

/** Numbers of 64 bits that a cell has in the table: minimum and maximum share the first, as f32; then sum, sum of squares and count. */
export const cellWords = 4

/** A table of cells that hold nothing yet. */
export function createCells(count: number): Float64Array {
  const cells = new Float64Array(count * cellWords)
  const ends = new Float32Array(cells.buffer)
  for (let at = 0; at < ends.length; at += 2 * cellWords) {
    ends[at] = Number.POSITIVE_INFINITY
    ends[at + 1] = Number.NEGATIVE_INFINITY
  }
  return cells
}

export interface PoolBand {
  /** Rows without gaps between them. */
  readonly values: Float32Array
  readonly width: number
  /** Where each cell starts, as a column of these rows, and after the last where it ends. */
  readonly edges: Uint32Array
}

/** Adds a band to the cells, a view of a table that has one cell for each pair of edges. */
export function poolBand(band: PoolBand, cells: Float64Array): void {
  const { values, width, edges } = band
  const rows = width === 0 ? 0 : Math.floor(values.length / width)
  const count = edges.length - 1
  if (rows === 0 || count < 1) return
  const last = edges[count]!
  if (last > width || cells.length < count * cellWords)
    throw new RangeError(`${count} cells up to column ${last} do not fit a band of ${width}`)
  const module = numbersModule()
  const pooled = module ? poolCompiled(module, band, rows, cells) : 0
  for (let cell = pooled; cell < count; cell++) poolCellPlain(band, rows, cell, cells)
}

/** Cells that fit a tile. */
const maxCells = tileSize / 8 / cellWords

/** Returns how many cells it did: none where there is no room in the arena. */
function poolCompiled(
  { run, buffer, tile, secondTile }: NumbersModule,
  band: PoolBand,
  rows: number,
  cells: Float64Array,
): number {
  const { values, width, edges } = band
  const isThere = values.buffer === buffer
  const copy = isThere ? undefined : takeEvenWindow(values.byteLength)
  try {
    if (copy && copy.buffer !== buffer) return 0
    copy?.set(bytesOf(values))
    const address = copy?.byteOffset ?? values.byteOffset
    const count = edges.length - 1
    for (let first = 0; first < count; first += maxCells) {
      const some = Math.min(maxCells, count - first)
      new Uint32Array(buffer, tile.byteOffset, some + 1).set(edges.subarray(first, first + some + 1))
      const own = cells.subarray(first * cellWords, (first + some) * cellWords)
      const table = new Float64Array(buffer, secondTile.byteOffset, own.length)
      table.set(own)
      run.poolCells(address, 4 * width, rows, tile.byteOffset, some, secondTile.byteOffset)
      own.set(table)
    }
    return count
  } finally {
    if (copy) releaseWindow(copy)
  }
}

function poolCellPlain({ values, width, edges }: PoolBand, rows: number, cell: number, cells: Float64Array): void {
  const low = new Float32Array(4).fill(Number.POSITIVE_INFINITY)
  const high = new Float32Array(4).fill(Number.NEGATIVE_INFINITY)
  const sums = new Float64Array(4)
  const squares = new Float64Array(4)
  let count = 0
  const [start, end] = [edges[cell]!, edges[cell + 1]!]
  for (let row = 0; row < rows; row++) {
    const base = row * width + start
    for (let i = 0; i < end - start; i++) {
      const x = values[base + i]!
      if (x - x !== 0) continue
      const lane = i & 3
      if (x < low[lane]!) low[lane] = x
      if (x > high[lane]!) high[lane] = x
      sums[lane]! += x
      squares[lane]! += x * x
      count++
    }
  }
  const ends = new Float32Array(cells.buffer, cells.byteOffset + 8 * cellWords * cell, 2)
  for (const x of low) if (x < ends[0]!) ends[0] = x
  for (const x of high) if (x > ends[1]!) ends[1] = x
  const at = cell * cellWords
  cells[at + 1]! += sums[0]! + sums[1]! + (sums[2]! + sums[3]!)
  cells[at + 2]! += squares[0]! + squares[1]! + (squares[2]! + squares[3]!)
  cells[at + 3]! += count
}
