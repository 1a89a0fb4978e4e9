// The values of a matrix as tiles: runs of whole blocks, row by row, each row zero-padded to its last block. Kernels process one tile at a
// time, so a matrix of any size needs the memory of one.
import { alignUp, defaultWindow, releaseWindow, takeWindow } from '../../bytes/index.js'
import { viewOf } from '../../bytes/views.js'
import { failWith, writeCodes } from '../../errors/index.js'
import { blockValues, type TileKernels, type TileShape, tileBlocks } from '../../kernels/mcf/index.js'
import type { Payload, Tensor } from '../../model/index.js'
import { transformCodes } from '../codes.js'
import { fileOf } from '../map-elements.js'

/** The range that values are clipped to before they are quantized. */
export type Clip = readonly [min: number, max: number]

export interface Matrix {
  /** The tensor being quantized, for messages. */
  readonly tensor: Tensor
  /** The target type, for messages. */
  readonly type: string
  readonly rows: number
  readonly columns: number
  /** The row of the tensor that the first row here is, for messages. */
  readonly base?: number | undefined
  /** The values as f32, row by row. */
  readonly values: Payload
  readonly clip: Clip | undefined
}

export interface Tile extends TileShape {
  readonly values: Float32Array
  readonly firstBlock: number
  readonly firstRow: number
  readonly firstColumn: number
}

/** A tile is valid until the next one is requested. */
export async function* tilesOf(matrix: Matrix, signal?: AbortSignal): AsyncGenerator<Tile, void, void> {
  const window = takeWindow(tileBlocks * blockValues * 4)
  try {
    yield* fillTiles(matrix, new Float32Array(window.buffer, window.byteOffset, tileBlocks * blockValues), signal)
  } finally {
    releaseWindow(window)
  }
}

async function* fillTiles(
  matrix: Matrix,
  buffer: Float32Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<Tile, void, void> {
  const { rows, columns, values } = matrix
  let tile = tileAt(matrix, buffer, 0, 0)
  let row = 0
  let column = 0
  for await (const chunk of values.chunks(defaultWindow, signal)) {
    const floats = viewOf(Float32Array, chunk, Math.floor(chunk.byteLength / 4))
    for (let done = 0; tile && done < floats.length; ) {
      const width: number = (tile.perRow - 1) * blockValues + tile.tail
      const count = Math.min(width - column, floats.length - done)
      buffer.set(floats.subarray(done, done + count), row * tile.perRow * blockValues + column)
      done += count
      column += count
      if (column < width) continue
      column = 0
      row++
      if (row < tile.rows) continue
      yield tile
      row = 0
      const isRowDone: boolean = tile.firstColumn + width === columns
      tile = isRowDone
        ? tileAt(matrix, buffer, tile.firstRow + tile.rows, 0)
        : tileAt(matrix, buffer, tile.firstRow, tile.firstColumn + width)
    }
  }
  if (!tile) return
  const message = `the values end in row ${tile.firstRow + row} of ${rows}`
  failWith(transformCodes['shape-mismatch'], { file: fileOf(matrix.tensor.data), path: matrix.tensor.name, message })
}

/** The tile that starts here: whole rows, or a part of a row that is longer than a tile. Undefined after the last row. */
function tileAt(
  { rows, columns }: Matrix,
  buffer: Float32Array,
  firstRow: number,
  firstColumn: number,
): Tile | undefined {
  if (firstRow >= rows) return undefined
  const blocksPerRow = Math.ceil(columns / blockValues)
  const count = Math.min(rows - firstRow, Math.max(1, Math.floor(tileBlocks / blocksPerRow)))
  const perRow = Math.min(tileBlocks, Math.ceil((columns - firstColumn) / blockValues))
  const tail = Math.min(blockValues, columns - firstColumn - (perRow - 1) * blockValues)
  const values = buffer.subarray(0, count * perRow * blockValues)
  if (tail < blockValues) values.fill(0)
  const firstBlock = firstRow * blocksPerRow + firstColumn / blockValues
  return { rows: count, perRow, tail, values, firstBlock, firstRow, firstColumn }
}

/** Prepares a tile for quantizing: every value must be finite, and is clipped to the range. */
export function loadTile(kernels: TileKernels, matrix: Matrix, tile: Tile): void {
  if (kernels.load(tile.values) >= 0x7f800000) refuseValue(matrix, tile)
  if (!matrix.clip) return
  const [min, max] = matrix.clip.map(Math.fround) as [number, number]
  for (let i = 0; i < tile.values.length; i++) {
    const value = tile.values[i]!
    if (value < min) tile.values[i] = min
    else if (value > max) tile.values[i] = max
  }
  clearFilling(tile)
  kernels.load(tile.values)
}

/** Clipping to a range without zero would change the padding after the last column. */
function clearFilling({ rows, perRow, tail, values }: Tile): void {
  if (tail === blockValues) return
  for (let row = 1; row <= rows; row++) {
    const end = row * perRow * blockValues
    values.fill(0, end - (blockValues - tail), end)
  }
}

function refuseValue(matrix: Matrix, tile: Tile): never {
  const at = tile.values.findIndex((value) => !Number.isFinite(value))
  const width = tile.perRow * blockValues
  const row = (matrix.base ?? 0) + tile.firstRow + Math.floor(at / width)
  const element = row * matrix.columns + tile.firstColumn + (at % width)
  const message = `element ${element} is ${tile.values[at]}, which ${matrix.type} cannot hold`
  failWith(writeCodes['value-range'], { file: fileOf(matrix.tensor.data), path: matrix.tensor.name, message })
}

/** `block` counts from the first block of the tile. */
export function refuseBlock(matrix: Matrix, tile: Tile, block: number): never {
  const row = (matrix.base ?? 0) + tile.firstRow + Math.floor(block / tile.perRow)
  const column = tile.firstColumn + (block % tile.perRow) * blockValues
  const last = Math.min(alignUp(column + 1, blockValues), matrix.columns) - 1
  const message = `the values of row ${row}, columns ${column} to ${last}, need a scale above 65504, the maximum of ${matrix.type}`
  failWith(writeCodes['value-range'], { file: fileOf(matrix.tensor.data), path: matrix.tensor.name, message })
}
