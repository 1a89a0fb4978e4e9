// What is known of a file beyond the model: its chunks, and for each tensor where its bytes are and which hash they have. It travels with
// the model as the content of one derived part, so that verified reads, edits and copies of unchanged chunks need not parse it again.
import type { ByteSource, Range } from '../../bytes/index.js'
import type { JsonValue, Metadata, Model, Part, ReadProof, Tensor } from '../../model/index.js'
import type { Chunk } from './control/chunk.js'
import type { Control } from './control/control.js'

export const containerKind = 'aero.container'
export const setKind = 'aeroset.container'
export const chunkKind = 'aero.chunk'
export const manifestKind = 'aero.manifest'
export const indexKind = 'aero.index'

export type JsonObject = Readonly<Record<string, JsonValue>>

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * A tensor, and what only its entry in the index says. As a range: the stored bytes, which are more than the tensor's data where the writer
 * counted padding. Offsets count from the start of the file, or of the shard where that is not in the file.
 */
export interface TensorEntry extends Range {
  readonly tensor: Tensor
  /** Position in the list of the index. */
  readonly index: number
  readonly shardId: number
  /** Undefined in the global index of a set, which has no shards. */
  readonly shard: Chunk | undefined
  /** `hash_b3` in lower case; empty when it is not 64 hexadecimal digits, which counts as a wrong hash. */
  readonly hash: string | undefined
}

/** The digest of each page of a shard. */
export interface PageTable {
  readonly pageSize: number
  readonly digests: readonly Uint8Array[]
}

/** Bytes that a verified read has compared last; the next read often wants more of them. */
export interface Proven extends Range {
  readonly proof: ReadProof
  readonly file: AeroFile
  readonly bytes: Uint8Array
}

export interface AeroFile {
  readonly source: ByteSource
  readonly control: Control
  /** In the order of the index, without those that have no place in the file. */
  readonly entries: readonly TensorEntry[]
  /** The tensors of the entries, as the model has them. */
  readonly tensors: readonly Tensor[]
  entryOf(name: string): TensorEntry | undefined
  readonly metadata: Metadata
  readonly metaJson: Chunk | undefined
  readonly manifest: Chunk | undefined
  readonly index: Chunk | undefined
  readonly controlHash: Chunk | undefined
  /** The page tables by their shards. */
  readonly pageTables: ReadonlyMap<Chunk, Chunk>
  /** Page tables that verified reads have fetched. */
  readonly loadedPages: Map<Chunk, Promise<PageTable | undefined>>
  lastProven?: Proven | undefined
  /** Chunks whose hash was compared while reading. */
  readonly checked: ReadonlySet<Chunk>
  /** Chunks that mean nothing to the model but travel with it. */
  readonly kept: readonly Chunk[]
  /** What manifest and index hold beyond what a writer puts there. */
  readonly extras: readonly Part[]
}

/** A file as it was read. */
export interface OpenFile {
  readonly model: Model
  readonly file: AeroFile
}

/** The file that a model was read from; undefined for models from elsewhere. */
export const fileOf = (model: Model): AeroFile | undefined =>
  model.parts.find((part) => part.kind === containerKind)?.content as AeroFile | undefined
