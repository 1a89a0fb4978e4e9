// Most of what happens to weights only changes the order of their elements, or takes some of them: views. A view is dimensions, and how far
// apart elements lie along each; the elements are gathered when they are read.
import { elementsIn } from '../bytes/index.js'
import { failWith } from '../errors/index.js'
import type { Payload, Tensor } from '../model/index.js'
import { stridesOf } from '../payloads/bands.js'
import { isContiguous, stridedPayload } from '../payloads/strided-payload.js'
import { fileOf } from '../transforms/map-elements.js'
import { familyCodes } from './codes.js'

export interface View {
  /** The shape of the result. */
  readonly shape: readonly number[]
  /** The dimensions that are walked, outermost first; as many elements as the shape has. */
  readonly dims: readonly number[]
  readonly strides: readonly number[]
  /** The first element. */
  readonly start?: number
}

/** A tensor with the elements of a view. Its type must store each element by itself. */
export function viewed(tensor: Tensor, { shape, dims, strides, start = 0 }: View): Tensor {
  const { bytes, elements } = tensor.dtype.group
  if (!tensor.data || elements !== 1) refuseShape(tensor, `${tensor.dtype.id} does not store elements one by one`)
  const isWhole = start === 0 && elementsIn(dims) === elementsIn(tensor.shape) && isContiguous(dims, strides)
  const data = isWhole ? tensor.data! : gathered(tensor.data!, dims, strides, bytes, start, tensor.name)
  return { ...tensor, shape, data }
}

function gathered(
  data: Payload,
  dims: readonly number[],
  strides: readonly number[],
  size: number,
  start: number,
  name: string,
): Payload {
  const { slices } = data
  if (slices && size % slices.unit === 0 && isContiguous(dims, strides))
    return slices.take(start * size, (elementsIn(dims) ?? 0) * size)
  return stridedPayload(
    data,
    dims,
    strides,
    size,
    { file: fileOf(data) || name, code: familyCodes['tensor-shape'] },
    start,
  )
}

export function refuseShape(tensor: Tensor, why: string): never {
  return failWith(familyCodes['tensor-shape'], {
    file: fileOf(tensor.data),
    path: tensor.name,
    message: `its shape is [${tensor.shape.join(', ')}]: ${why}`,
  })
}

/** The tensor regarded as having these dimensions, with its axes in another order. */
export function rearranged(
  tensor: Tensor,
  dims: readonly number[],
  axes: readonly number[],
  shape: readonly number[] = tensor.shape,
): Tensor {
  const strides = stridesOf(dims)
  return viewed(tensor, { shape, dims: axes.map((axis) => dims[axis]!), strides: axes.map((axis) => strides[axis]!) })
}

/** `length` entries along an axis, from `start` on, every `step`-th. */
export function narrowed(tensor: Tensor, axis: number, start: number, length: number, step = 1): Tensor {
  const strides = stridesOf(tensor.shape)
  const shape = tensor.shape.with(axis, length)
  return viewed(tensor, {
    shape,
    dims: shape,
    strides: strides.with(axis, strides[axis]! * step),
    start: start * strides[axis]!,
  })
}
