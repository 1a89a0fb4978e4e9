// What a checkpoint holds at the end of each path, before it has a name.
import type { MetaValue } from '../../model/index.js'
import type { StoredArray } from './array.js'

export interface Leaf {
  /** Keys of maps and positions in lists, from the root down. */
  readonly path: readonly string[]
  /** Where its key begins. */
  readonly at: number
  readonly value: LeafValue
}

export type LeafValue =
  | { readonly kind: 'array'; readonly array: StoredArray }
  | { readonly kind: 'chunked'; readonly shape: readonly number[]; readonly chunks: readonly StoredArray[] }
  | { readonly kind: 'meta'; readonly value: MetaValue }
  /** It was reported, and is left out. */
  | { readonly kind: 'bad'; readonly subject: 'tensor' | 'metadata'; readonly reason: string }
