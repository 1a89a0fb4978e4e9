// The inside of a quantized tensor as maps of their own: codes, and the scale and offset that each value has.
import { readCodes, type Tensor } from 'tare'

export const layers = ['values', 'codes', 'scales', 'offsets'] as const
export type Layer = (typeof layers)[number]

interface LayerWindow {
  readonly rows: readonly [number, number]
  readonly columns: readonly [number, number]
  readonly fixed?: readonly number[] | undefined
  readonly signal: AbortSignal
}

/** Row by row, a number for each value. */
export async function readLayer(
  tensor: Tensor,
  layer: Exclude<Layer, 'values'>,
  window: LayerWindow,
): Promise<Float32Array> {
  const { rows, columns, codes, perScale, blocksPerRow, firstColumn, scales, offsets } = await readCodes(tensor, window)
  if (layer === 'codes') return Float32Array.from(codes)
  const perBlock = layer === 'scales' ? scales : offsets
  const numbers = new Float32Array(rows * columns)
  if (!perBlock) return numbers
  const skip = window.columns[0] - firstColumn
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++)
      numbers[row * columns + column] = perBlock[row * blocksPerRow + Math.floor((column + skip) / perScale)]!
  return numbers
}
