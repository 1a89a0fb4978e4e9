// Verified reads: if a format hashes parts of a file, exactly the bytes that are read can be compared with the hashes.
import type { Model, Tensor } from './model.js'
import type { Payload } from './payload.js'

/** What reads have been compared with so far. */
export interface ReadProof {
  /** What they were compared with, in words. */
  readonly against: string[]
  /** Pages that were read and matched their digest. */
  pages: number
  /** Bytes returned from such pages. */
  pageBytes: number
  /** Bytes returned from tensors that matched their hash as a whole. */
  tensorBytes: number
  /** Bytes returned that nothing could be compared with. */
  unprovenBytes: number
}

export interface VerifiedReadOptions {
  /** To verify a slice of a tensor that has only one hash, the whole tensor is read, unless it is larger than this (64 MiB). */
  readonly wholeTensorLimit?: number | undefined
}

export interface VerifiedModel {
  readonly model: Model
  /** Updated with every read. Undefined: the format does not hash parts of a file. */
  readonly proof: ReadProof | undefined
}

/** The bytes of a tensor, verified while they are read; undefined if they are not in the model's file. Updates `proof`. */
export type VerifiedPayload = (
  model: Model,
  tensor: Tensor,
  options: VerifiedReadOptions,
  proof: ReadProof,
) => Payload | undefined
