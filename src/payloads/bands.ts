// Runs of a tensor's elements as boxes. Any range of the elements in row-major order falls into a few boxes that each fix some outer
// indices, have a range of one axis, and everything of the axes inside it.

/** A box that is one run of the elements. */
export interface Band {
  /** Its first element, counted in the whole tensor. */
  readonly first: number
  readonly offsets: readonly number[]
  readonly sizes: readonly number[]
}

/** Cuts the elements from `from` to `to` into bands of up to `max` elements. */
export function* bandsOf(shape: readonly number[], from: number, to: number, max: number): Generator<Band, void, void> {
  const strides = stridesOf(shape)
  for (let at = from; at < to; ) {
    const room = Math.min(max, to - at)
    // The outermost axis on which a whole step begins here and fits.
    const axis = strides.findIndex((stride) => at % stride === 0 && stride <= room)
    if (axis < 0) {
      yield { first: at, offsets: [], sizes: [] } // the one element of a tensor without dimensions
      return
    }
    const step = strides[axis]!
    const offsets = strides.map((stride, i) => (i > axis ? 0 : Math.floor(at / stride) % shape[i]!))
    const count = Math.min(Math.floor(room / step), shape[axis]! - offsets[axis]!)
    yield { first: at, offsets, sizes: shape.map((dim, i) => (i < axis ? 1 : i === axis ? count : dim)) }
    at += count * step
  }
}

/** How many elements apart neighbours lie along each dimension, where nothing lies between them. */
export function stridesOf(shape: readonly number[], order: 'row' | 'column' = 'row'): number[] {
  const strides = new Array<number>(shape.length)
  let step = 1
  for (let i = 0; i < shape.length; i++) {
    const axis = order === 'row' ? shape.length - 1 - i : i
    strides[axis] = step
    step *= shape[axis]!
  }
  return strides
}
