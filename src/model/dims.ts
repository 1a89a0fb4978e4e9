// Dimensions beyond 2^53-1. Only tensors without data or without elements can have them, so no code computes with them; but they are shown,
// compared and written as the file states them. Such numbers are rarely exact, so the exact ones are kept beside them (`exactShape`).
import type { Tensor } from './tensor.js'

/** A dimension for display and JSON: decimal digits beyond 2^53-1. */
export type Dim = number | string

export type Shape = Pick<Tensor, 'shape' | 'exactShape'>

/** The shape of a tensor with these dimensions. */
export function shapeOfDims(dims: readonly (number | bigint)[]): Shape {
  const shape = dims.map(Number)
  const isExact = dims.every((dim, i) => BigInt(dim) === BigInt(shape[i]!))
  return isExact ? { shape } : { shape, exactShape: dims.map(BigInt) }
}

/** The same from displayed dimensions. */
export const shapeOfShown = (dims: readonly Dim[]): Shape =>
  shapeOfDims(dims.map((dim) => (typeof dim === 'string' ? BigInt(dim) : dim)))

/** Numbers up to 2^53-1, beyond that exact integers. */
export function exactDims({ shape, exactShape }: Shape): readonly (number | bigint)[] {
  if (shape.every(Number.isSafeInteger)) return shape
  return shape.map((dim, i) => {
    if (Number.isSafeInteger(dim)) return dim
    const exact = exactShape?.[i]
    // The tensor may have been given another shape since.
    return exact !== undefined && Number(exact) === dim ? exact : BigInt(dim)
  })
}

export function shownDims(shape: Shape): readonly Dim[] {
  const dims = exactDims(shape)
  return dims === shape.shape ? shape.shape : dims.map((dim) => (typeof dim === 'bigint' ? dim.toString() : dim))
}

/** `[2, 3]` */
export const formatDims = (shape: Shape): string => `[${shownDims(shape).join(', ')}]`

/** The shape of the tensor before, where that is the same: one list then serves both, which saves time and memory in a long row of tensors. */
export function sharedShape(shape: readonly number[], before: Tensor | undefined): readonly number[] {
  const isSame = before?.shape.length === shape.length && shape.every((dim, i) => dim === before.shape[i])
  return isSame ? before.shape : shape
}
