// What is known of a file beyond the model: its table of contents and where each tensor's bytes and hash are. It travels with the
// model as the content of one derived part, so that checking, verified reading and writing unchanged chunks need not read it again.

import type { ByteSource } from '../../bytes/index.js'
import { toHex } from '../../bytes/index.js'
import type { JsonValue, Metadata, Model, Part, Tensor } from '../../model/index.js'
import type { Chunk } from './chunk.js'
import type { Control } from './control.js'
import type { JsonObject } from './manifest.js'
import { digestSize, pagesName } from './structs.js'
import type { IndexEntry } from './tidx.js'

/** What AERO itself said about tensors. Other formats keep things under the same key of a tensor; they have no place in an index. */
export const ownExtras = new WeakSet<object>()

export const containerKind = 'aero.container'
export const chunkKind = 'aero.chunk'
export const manifestKind = 'aero.manifest'
export const indexKind = 'aero.index'

/** Where the tensors of a file are; entry i of every list belongs to tensor i. Plain lists: a file can have a million tensors. */
export class TensorTable {
  readonly tensors: Tensor[] = []
  /** Position in the index of the file. */
  readonly entries: number[] = []
  /** The stored range in the file; the tensor's data can be shorter, where a length includes padding. */
  readonly starts: number[] = []
  readonly ends: number[] = []
  /** The number of the shard that the index names, and the bytes that it states: all there is, when the weights are elsewhere. */
  readonly shardIds: number[] = []
  readonly lengths: number[] = []
  /** The chunk that each tensor lies in. */
  readonly shards: (Chunk | undefined)[] = []
  /** Hashes that are no hashes; they count as wrong. */
  readonly malformedHashes = new Set<number>()
  #hashes = new Uint8Array(0)
  #hashed: boolean[] = []

  get count(): number {
    return this.tensors.length
  }

  add(tensor: Tensor, entry: IndexEntry, shard: Chunk | undefined, start: number, end: number): void {
    const i = this.tensors.length
    this.tensors.push(tensor)
    this.entries.push(entry.index)
    this.shardIds.push(entry.shardId)
    this.lengths.push(Number(entry.dataLen))
    this.shards.push(shard)
    this.starts.push(start)
    this.ends.push(end)
    this.#hashed.push(entry.hashForm === 'proper')
    if (entry.hashForm === 'malformed') this.malformedHashes.add(i)
    else if (entry.hashForm === 'proper') this.#keepHash(i, entry.hash)
  }

  #keepHash(i: number, hash: Uint8Array): void {
    const at = i * digestSize
    if (at + digestSize > this.#hashes.byteLength) {
      const larger = new Uint8Array(Math.max(at + digestSize, 2 * this.#hashes.byteLength))
      larger.set(this.#hashes)
      this.#hashes = larger
    }
    this.#hashes.set(hash, at)
  }

  /** The hash of tensor i, where the index has a proper one. */
  hashOf(i: number): Uint8Array | undefined {
    if (!this.#hashed[i]) return undefined
    return this.#hashes.subarray(i * digestSize, (i + 1) * digestSize)
  }

  /** Tensor numbers by where they start. */
  inFileOrder(): Iterable<number> {
    const { starts, ends } = this
    const compare = (a: number, b: number): number => starts[a]! - starts[b]! || ends[a]! - ends[b]!
    for (let i = 1; i < starts.length; i++) {
      if (compare(i - 1, i) > 0) return Uint32Array.from(starts, (_, k) => k).sort(compare)
    }
    return starts.keys()
  }
}

export interface AeroFile {
  readonly source: ByteSource
  readonly control: Control
  readonly table: TensorTable
  readonly metadata: Metadata
  readonly metaJson: Chunk | undefined
  readonly manifest: Chunk | undefined
  readonly index: Chunk | undefined
  /** Chunks whose hash was compared while reading. */
  readonly checked: ReadonlySet<Chunk>
  /** Chunks that mean nothing to the model but travel with it. */
  readonly kept: readonly Chunk[]
}

export const controlHashOf = ({ control }: AeroFile): Chunk | undefined =>
  control.chunks.find((chunk) => chunk.fourcc === 'IHSH')

/** The page tables by the shard that they belong to; the first of a name counts. */
export function pageTablesOf({ control }: AeroFile): Map<Chunk, Chunk> {
  const byName = new Map<string, Chunk>()
  for (const chunk of control.chunks) {
    if (chunk.fourcc === 'PHSH' && !byName.has(chunk.name)) byName.set(chunk.name, chunk)
  }
  const tables = new Map<Chunk, Chunk>()
  for (const shard of shardsOf(control).values()) {
    const table = byName.get(pagesName(shard.name))
    if (table) tables.set(shard, table)
  }
  return tables
}

/** The weight shards by name; the first of a name counts. */
export function shardsOf(control: Control): Map<string, Chunk> {
  const shards = new Map<string, Chunk>()
  for (const chunk of control.chunks) {
    if (chunk.fourcc === 'WTSH' && !shards.has(chunk.name)) shards.set(chunk.name, chunk)
  }
  return shards
}

/** The file that a model was read from; undefined for models from elsewhere. */
export function fileOf(model: Model): AeroFile | undefined {
  const part = model.parts.find((each) => each.kind === containerKind)
  return part?.content as AeroFile | undefined
}

const mostShown = 256

export function containerPart(file: AeroFile): Part {
  const { control } = file
  const shown = control.chunks.slice(0, mostShown).map(({ fourcc, name, flags, offset, length, ulen }) => ({
    fourcc,
    name,
    flags,
    offset,
    length,
    ulen,
  }))
  return {
    kind: containerKind,
    sharing: 'derived',
    value: { uuid: toHex(control.uuid), chunk_count: control.entryCount, chunks: shown as unknown as JsonValue },
    content: file,
  }
}

export const extraPart = (kind: string, extra: JsonObject): Part => ({ kind, sharing: 'private', value: extra })
