// Reading with proof: where a format has hashes for parts of a file, exactly what is read can be compared with them.
import type { Model } from './model.js'
import type { Payload } from './payload.js'
import type { Tensor } from './tensor.js'

/** What reads were compared with so far. */
export interface ReadProof {
  /** What there was to compare with, in words. */
  readonly against: string[]
  /** Pages that were read and had their digest. */
  pages: number
  /** Bytes handed out from such pages. */
  pageBytes: number
  /** Bytes handed out of tensors that had their hash as a whole. */
  tensorBytes: number
  /** Bytes handed out that nothing could be compared with. */
  unprovenBytes: number
}

export interface VerifiedReadOptions {
  /** A slice of a tensor that has only a hash of its own makes the whole tensor be read; not when it is larger than this (64 MiB). */
  readonly wholeTensorLimit?: number | undefined
}

export interface VerifiedModel {
  readonly model: Model
  /** Grows with every read. Undefined: the format has no hashes for parts of a file. */
  readonly proof: ReadProof | undefined
}

/** The bytes of a tensor, compared while they are read; undefined when they are not those of the model's file. Counts in `proof`. */
export type VerifiedPayload = (
  model: Model,
  tensor: Tensor,
  options: VerifiedReadOptions,
  proof: ReadProof,
) => Payload | undefined
