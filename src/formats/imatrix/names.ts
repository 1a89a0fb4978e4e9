// The names that both forms go by.
import type { Metadata } from '../../model/index.js'

export const sumsSuffix = '.in_sum2'
export const countsSuffix = '.counts'
export const typeKey = 'general.type'
export const datasetsKey = 'imatrix.datasets'
export const chunkCountKey = 'imatrix.chunk_count'
export const chunkSizeKey = 'imatrix.chunk_size'

/** A number among the metadata; 0 without one. */
export function numberAt(metadata: Metadata, key: string): number {
  const found = metadata.get(key)
  return found?.type === 'u32' ? Number(found.value) : 0
}
