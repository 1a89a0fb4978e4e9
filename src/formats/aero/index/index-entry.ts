// One entry of the tensor index, between the parser and whoever keeps it.
import type { JsonValue } from '../../../model/index.js'
import { digestSize } from '../structs.js'

/** One entry, as far as it makes sense by itself. The object is used again for the next one. */
export interface IndexEntry {
  /** Position in the list. */
  index: number
  /** Position of the entry's first byte in the content of the chunk. */
  at: number
  name: string
  nameHash: number
  /** The name again, between two places of these bytes, where it is there as ASCII. */
  nameBytes: Uint8Array | undefined
  nameStart: number
  nameEnd: number
  dtype: number
  shape: number[]
  shardId: number
  /** A bigint when it is beyond 2^53-1. */
  dataOff: number | bigint
  dataLen: number | bigint
  /** What `hash_b3` says; the bytes are in `hash` when it is proper. */
  hashForm: 'none' | 'proper' | 'malformed'
  readonly hash: Uint8Array
  /** The same bytes, four at a time. */
  readonly hashWords: Uint32Array
  /** Keys that the document does not define, and `flags` when it is not 0. */
  extra: Record<string, JsonValue> | undefined
}

export function blankEntry(): IndexEntry {
  const hash = new Uint8Array(digestSize)
  return {
    index: 0,
    at: 0,
    name: '',
    nameHash: 0,
    nameBytes: undefined,
    nameStart: 0,
    nameEnd: 0,
    dtype: 0,
    shape: [],
    shardId: 0,
    dataOff: 0,
    dataLen: 0,
    hashForm: 'none',
    hash,
    hashWords: new Uint32Array(hash.buffer),
    extra: undefined,
  }
}
