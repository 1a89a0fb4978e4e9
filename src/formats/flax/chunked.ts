// Arrays above 1 GB are stored in pieces: a map with a mark, the shape, and the elements as arrays of one dimension.
import { countElements } from '../../bytes/index.js'
import { chunkedKey, type StoredArray } from './array.js'
import type { Leaf, LeafValue } from './leaf.js'

/** Puts together what was found below a path of that many keys; the text says why that cannot be done. */
export function joinChunks(leaves: readonly Leaf[], depth: number): LeafValue | string {
  const dims = new Map<string, LeafValue>()
  const pieces = new Map<string, LeafValue>()
  for (const { path, value } of leaves) {
    const [field, index, ...rest] = path.slice(depth)
    if (field === chunkedKey && index === undefined) continue
    const list = field === 'shape' ? dims : field === 'chunks' ? pieces : undefined
    if (!list || index === undefined || rest.length > 0)
      return `${JSON.stringify(path.slice(depth))} does not belong there`
    list.set(index, value)
  }
  const shape: number[] = []
  for (let axis = 0; axis < dims.size; axis++) {
    const dim = dimension(dims.get(String(axis)))
    if (dim === undefined) return `dimension ${axis} is missing or is not a count`
    shape.push(dim)
  }
  const chunks: StoredArray[] = []
  for (let i = 0; i < pieces.size; i++) {
    const piece = pieces.get(String(i))
    if (piece?.kind !== 'array' || piece.array.shape.length !== 1)
      return `chunk ${i} is missing or is not a row of numbers`
    chunks.push(piece.array)
  }
  const [first] = chunks
  if (!first) return 'there are no chunks'
  const other = chunks.find(({ typeName }) => typeName !== first.typeName)
  if (other) return `there are chunks of ${first.typeName} and of ${other.typeName}`
  const stored = chunks.reduce((sum, chunk) => sum + chunk.shape[0]!, 0)
  if (countElements(shape) !== stored) return `the chunks have ${stored} elements, the shape is [${shape.join(', ')}]`
  return { kind: 'chunked', shape, chunks }
}

function dimension(value: LeafValue | undefined): number | undefined {
  if (value?.kind !== 'meta' || value.value.type !== 'i64') return undefined
  const dim = Number(value.value.value)
  return Number.isSafeInteger(dim) && dim >= 0 ? dim : undefined
}
