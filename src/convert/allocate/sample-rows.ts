// Some rows of a tensor as numbers, spread evenly over it.
import { viewOf } from '../../bytes/views.js'
import { f32 } from '../../dtypes/index.js'
import { bytesPayload, type Payload, readPayload, type Tensor } from '../../model/index.js'
import { dequantizeTensor, isQuantized } from '../../transforms/dequantize.js'
import { floatsOf } from '../../transforms/quantize/raw.js'

export interface Sample {
  /** A matrix of f32 in memory. */
  readonly rows: Tensor
  /** The weights of its columns. */
  readonly importance: Float32Array | undefined
}

/** About as many values are looked at, in whole rows. */
const wanted = 1 << 14
/** Tensors of several matrices, each with weights of its own, are looked at in at most as many places. */
const maxMatrices = 8

/** The samples of a tensor. Rows with the same weights are in one. */
export async function sampleRows(
  tensor: Tensor,
  importance: Float32Array | undefined,
  signal?: AbortSignal,
): Promise<Sample[]> {
  const columns = tensor.shape.at(-1) ?? 0
  const height = columns === 0 ? 0 : tensor.shape.slice(0, -1).reduce((product, dim) => product * dim, 1)
  const values = floatsOf(isQuantized(tensor) ? dequantizeTensor(tensor, f32) : tensor)
  const matrices = importance && importance.length > columns ? importance.length / columns : 1
  const places = Math.min(matrices, maxMatrices)
  const rowsOfMatrix = height / matrices
  const count = Math.min(rowsOfMatrix, Math.max(1, Math.floor(wanted / columns / places)))
  const samples: Sample[] = []
  for (let place = 0; place < places; place++) {
    const matrix = Math.floor((place * matrices) / places)
    const first = matrix * rowsOfMatrix
    const bytes = new Uint8Array(count * columns * 4)
    for (let i = 0; i < count; i++) {
      const row = first + Math.floor((i * rowsOfMatrix) / count)
      bytes.set(await readRow(values, row * columns * 4, columns * 4, signal), i * columns * 4)
    }
    const plain = { dtype: f32, order: 'row', role: 'weight' } as const
    const rows: Tensor = { ...plain, name: tensor.name, shape: [count, columns], data: bytesPayload(bytes) }
    const weights = matrices === 1 ? importance : importance!.subarray(matrix * columns, (matrix + 1) * columns)
    samples.push({ rows, importance: weights })
  }
  return samples
}

async function readRow(values: Payload, offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
  if (values.read) return values.read(offset, length, signal)
  if (values.slices && offset % values.slices.unit === 0) return readPayload(values.slices.take(offset, length), signal)
  const window = new Uint8Array(length)
  let at = 0
  // Without random access everything up to the row is read.
  for await (const chunk of values.chunks(1 << 20, signal)) {
    const [from, to] = [Math.max(0, offset - at), Math.min(chunk.byteLength, offset + length - at)]
    if (from < to) window.set(chunk.subarray(from, to), at + from - offset)
    at += chunk.byteLength
    if (at >= offset + length) break
  }
  return window
}

/** The numbers of a sample. */
export async function numbersOf(tensor: Tensor, signal?: AbortSignal): Promise<Float32Array> {
  const bytes = await readPayload(floatsOf(tensor), signal)
  return viewOf(Float32Array, bytes, bytes.byteLength / 4)
}
