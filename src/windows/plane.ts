// A tensor seen as a matrix. Two of its axes become rows and columns, the others stay at one index each; where an element lies in storage
// then follows from a first element and two strides, whatever the rank and the order of the bytes.
import { failWith, usageCodes } from '../errors/index.js'
import type { Tensor } from '../model/index.js'
import { stridesOf } from '../payloads/bands.js'
import { rowMajor } from '../transforms/reorder.js'

export interface ViewOptions {
  /** The axes that become rows and columns. Default: the last two; a vector is one row. */
  readonly axes?: readonly [rows: number, columns: number] | undefined
  /** The index on each of the other axes, in their order. Default: 0. */
  readonly fixed?: readonly number[] | undefined
}

export interface Plane {
  readonly rows: number
  readonly columns: number
  /** Counted in elements, in the order of storage. */
  readonly first: number
  readonly rowStride: number
  readonly columnStride: number
}

/** Refuses a view that the shape does not have. */
export function planeOf(tensor: Tensor, { axes, fixed = [] }: ViewOptions = {}): Plane {
  const refuse = (message: string): never =>
    failWith(usageCodes.option, { file: fileOf(tensor), path: tensor.name, message })
  // Blocks in column order have no meaning; this says so.
  if (tensor.order === 'column' && (tensor.encoding ?? tensor.dtype).kind === 'block') rowMajor(tensor)
  const shape = [...[1, 1].slice(Math.min(tensor.shape.length, 2)), ...tensor.shape]
  const rank = shape.length
  const [rowAxis, columnAxis] = tensor.shape.length < 2 ? [0, 1] : (axes ?? [rank - 2, rank - 1])
  const isAxis = (axis: number): boolean => Number.isInteger(axis) && axis >= 0 && axis < rank
  if (!isAxis(rowAxis) || !isAxis(columnAxis) || rowAxis === columnAxis)
    refuse(`axes ${rowAxis} and ${columnAxis} are not two axes of [${tensor.shape.join(', ')}]`)
  const strides = stridesOf(shape, tensor.order)
  const others = shape.map((_, axis) => axis).filter((axis) => axis !== rowAxis && axis !== columnAxis)
  if (fixed.length > others.length) refuse(`${fixed.length} indexes are given for ${others.length} other axes`)
  let first = 0
  for (const [i, axis] of others.entries()) {
    const index = fixed[i] ?? 0
    if (!Number.isInteger(index) || index < 0 || index >= shape[axis]!)
      refuse(`index ${index} is outside axis ${axis}, which has ${shape[axis]}`)
    first += index * strides[axis]!
  }
  return {
    rows: shape[rowAxis]!,
    columns: shape[columnAxis]!,
    first,
    rowStride: strides[rowAxis]!,
    columnStride: strides[columnAxis]!,
  }
}

export const fileOf = (tensor: Tensor): string => tensor.data?.origin?.source.name ?? 'tensor'
