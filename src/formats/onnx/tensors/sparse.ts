// A sparse tensor is three things: the dims of the whole, the values that are not zero, and where they belong. Positions are int64, either
// one per value (counted over the flattened tensor) or one row of coordinates per value. It has the name of its values.
import { countElements, maxSafe } from '../../../bytes/index.js'
import type { Range } from '../../../bytes/ranges.js'
import { after } from '../../../wire/protobuf/protobuf.js'
import { ownCodes as codes } from '../codes.js'
import type { Found } from '../graph/found.js'
import { sparseMessage } from '../messages.js'
import type { OnnxReader } from '../reader.js'
import { newDraft, readTensor, type TensorDraft } from './tensor-draft.js'

export interface SparseDraft {
  readonly path: string
  readonly values: TensorDraft
  readonly indices: TensorDraft
  readonly dims: bigint[]
}

export const newSparse = (path: string): SparseDraft => ({
  path,
  values: newDraft(`${path}.values`),
  indices: newDraft(`${path}.indices`),
  dims: [],
})

/** Adds a message, or another piece of it, to the draft. */
export async function readSparse(
  { path, values, indices, dims }: SparseDraft,
  place: Range,
  reader: OnnxReader,
): Promise<void> {
  await reader.walk(place, path, sparseMessage, () => {
    if (reader.field === 3) return reader.dims(dims, `${path}.dims`)
    return after(readTensor(reader.field === 1 ? values : indices, reader.content, reader), () => true)
  })
}

/** Checks both tensors and that they go together; `isListed` for the sparse initializers of the model. */
export async function addSparse(
  { path, values, indices, dims }: SparseDraft,
  found: Found,
  { context }: OnnxReader,
  isListed = false,
): Promise<void> {
  const offset = values.pieces[0]?.start ?? indices.pieces[0]?.start ?? 0
  const refuse = (field: string, message: string): void =>
    context.report.report(codes['sparse-shape'], { offset, path: `${path}.${field}`, message })
  if (values.pieces.length === 0 || indices.pieces.length === 0) {
    refuse(values.pieces.length === 0 ? 'values' : 'indices', 'a sparse tensor needs values and positions')
    return
  }
  const stored = await found.check(values)
  const places = await found.check(indices)
  if (!stored?.type || !places?.type) return
  const shape = dims.map(Number)
  const elements = shape.every((dim) => dim > 0 && dim <= maxSafe) ? countElements(shape) : undefined
  if (elements === undefined || shape.length === 0) {
    refuse('dims', `[${dims.join(', ')}] is not a shape for a sparse tensor`)
    return
  }
  const [count = -1, width] = places.shape
  const isFitting =
    stored.shape.length === 1 &&
    stored.shape[0] === count &&
    (width === undefined || width === shape.length) &&
    places.shape.length <= 2
  if (places.type.dtype.id !== 'i64' || !isFitting) {
    const positions = `[${places.shape.join(', ')}] of ${places.type.dtype.id}`
    const rest = `values [${stored.shape.join(', ')}], the whole has ${shape.length} dimensions`
    refuse('indices', `positions are ${positions}, ${rest}`)
    return
  }
  const isFlat = width === undefined
  found.positions.push({ payload: places.data, shape, isFlat, offset, path: `${path}.indices` })
  if (isListed) found.addSparse(values.name.value, { dtype: stored.type.dtype.id, shape, stored: count }, offset, path)
}
