// Row order and column order. In column order the first index varies fastest: element (i0, i1, …) is number i0 + d0·(i1 + d1·(…)).
import { countElements, type Range } from '../bytes/index.js'
import type { DType } from '../dtypes/index.js'
import { failWith } from '../errors/index.js'
import { bytesPayload, type Payload, readPayload, rechunked, type Slices, type Tensor } from '../model/index.js'
import { transformCodes } from './codes.js'
import { fileOf } from './map-elements.js'
import { defaultBudget, type RandomAccess, type ReverseOptions, reverseAxes, reverseMemory } from './reverse-axes.js'

/** The maximum size of a payload without random access that is kept in memory for reordering. */
const maxBuffered = 1 << 26

/** The maximum memory held while such a payload is reordered. */
export const reorderMemory = (byteLength: number, hasRandomAccess: boolean): number =>
  reverseMemory(byteLength) + (hasRandomAccess ? 0 : Math.min(byteLength, maxBuffered))

/** The same tensor with its bytes in row order. */
export function rowMajor(tensor: Tensor, options?: ReverseOptions): Tensor {
  return tensor.order === 'row' ? tensor : reordered(tensor, 'row', options)
}

/** The same tensor with its bytes in column order. */
export function columnMajor(tensor: Tensor, options?: ReverseOptions): Tensor {
  return tensor.order === 'column' ? tensor : reordered(tensor, 'column', options)
}

/**
 * The transpose of a matrix. It is free: a matrix in row order and its transpose in column order are the same bytes. Use `rowMajor` or
 * `columnMajor` to get the original order.
 */
export function transposed(tensor: Tensor): Tensor {
  const [rows, columns] = tensor.shape
  if (rows === undefined || columns === undefined || tensor.shape.length > 2) {
    const message = `the shape is [${tensor.shape.join(', ')}]`
    failWith(transformCodes['not-a-matrix'], { file: fileOf(tensor.data), path: tensor.name, message })
  }
  refuseBlocks(tensor)
  const axis = tensor.quant?.axis
  const quant = tensor.quant && axis !== undefined ? { ...tensor.quant, axis: 1 - axis } : tensor.quant
  return { ...tensor, shape: [columns, rows], order: tensor.order === 'row' ? 'column' : 'row', quant }
}

function reordered(tensor: Tensor, order: 'row' | 'column', options: ReverseOptions | undefined): Tensor {
  const dims = outputDims(tensor.shape, order)
  if (dims.length < 2 || dims.includes(0) || !tensor.data) return { ...tensor, order }
  const type = refuseBlocks(tensor)
  const { elements, bytes } = type.group
  const file = fileOf(tensor.data)
  if (elements > 1) {
    const message = `elements of ${type.id} are not whole bytes, so they cannot be reordered`
    failWith(transformCodes['reorder-type'], { file, path: tensor.name, message })
  }
  const data = tensor.data
  const count = countElements(dims)
  if (count === undefined || count * bytes !== data.byteLength) {
    const message = `[${tensor.shape.join(', ')}] of ${type.id} does not take ${data.byteLength} bytes`
    failWith(transformCodes['shape-mismatch'], { file, path: tensor.name, message })
  }
  if (!data.read && data.byteLength > maxBuffered) {
    const message = `${data.byteLength} bytes would have to be kept in memory; the limit is ${maxBuffered}`
    failWith(transformCodes['needs-random-access'], { file, path: tensor.name, message })
  }
  return { ...tensor, order, data: new ReorderedPayload(data, tensor.shape, order, bytes, options) }
}

/** The dimensions as `reverseAxes` wants them, without those of one element. */
const outputDims = (shape: readonly number[], order: Tensor['order']): number[] =>
  (order === 'row' ? shape : shape.toReversed()).filter((dim) => dim !== 1)

/** A class with few fields, since a model can have a hundred thousand tensors in the other order. */
class ReorderedPayload implements Payload {
  readonly byteLength: number
  readonly #data: Payload
  readonly #shape: readonly number[]
  readonly #order: Tensor['order']
  readonly #size: number
  readonly #options: ReverseOptions | undefined

  constructor(
    data: Payload,
    shape: readonly number[],
    order: Tensor['order'],
    size: number,
    options: ReverseOptions | undefined,
  ) {
    this.byteLength = data.byteLength
    this.#data = data
    this.#shape = shape
    this.#order = order
    this.#size = size
    this.#options = options
  }

  /** From anywhere, where the input can be read in any order; else it would be kept in memory for each slice. */
  get slices(): Slices | undefined {
    if (!this.#data.read) return undefined
    const take = (offset: number, length: number): Payload => ({
      byteLength: length,
      chunks: (window, signal) => this.#made({ start: offset, end: offset + length }, window, signal),
    })
    return { unit: this.#size, take }
  }

  chunks(window: number, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#made({ start: 0, end: this.byteLength }, window, signal)
  }

  #made(range: Range, window: number, signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
    const bands = this.#bands(range, signal)
    // What fits a band comes in one piece.
    const isOne = this.byteLength <= Math.min(window, this.#options?.budget ?? defaultBudget)
    return isOne ? bands : rechunked(bands, window)
  }

  async *#bands(range: Range, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void, void> {
    const dims = outputDims(this.#shape, this.#order)
    yield* reverseAxes(await randomAccess(this.#data, signal), dims, this.#size, this.#options, signal, range)
  }
}

async function randomAccess(data: Payload, signal: AbortSignal | undefined): Promise<RandomAccess> {
  return (data.read ? data : bytesPayload(await readPayload(data, signal))) as RandomAccess
}

function refuseBlocks(tensor: Tensor): DType {
  const type = tensor.encoding ?? tensor.dtype
  if (type.kind !== 'block' && type.kind !== 'opaque') return type
  const message = `${type.id} binds neighbouring elements together, so their order cannot be changed`
  return failWith(transformCodes['reorder-type'], { file: fileOf(tensor.data), path: tensor.name, message })
}
