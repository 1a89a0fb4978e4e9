// Where the tensors of a file are, by the position of the tensor. A file can have a million tensors, so this is plain lists of numbers, and
// what follows from others or is nearly always the same is not among them.
import { sortedPositions } from '../../../bytes/sort-positions.js'
import type { Tensor } from '../../../model/index.js'
import { PackedTensors } from '../../../model/packed-tensors.js'
import type { Chunk } from '../control/chunk.js'
import { digestSize, digestWords } from '../structs.js'
import type { IndexEntry } from './index-entry.js'

const noHash = 0
const properHash = 1
const malformedHash = 2

/** A shard as the index names it, and the chunk that it is; without one the weights are elsewhere. */
interface Shard {
  readonly id: number
  readonly chunk: Chunk | undefined
}

export class TensorTable {
  readonly tensors = new PackedTensors()
  /** The place in the shard and the length that the index states: all there is, when the weights are elsewhere. */
  readonly offsets: Float64Array
  readonly lengths: Float64Array
  readonly #most: number
  readonly #shardNumbers: Uint32Array
  readonly #shards: Shard[] = []
  readonly #numberOfId = new Map<number, number>()
  readonly #hashForms: Uint8Array
  #hashes: Uint32Array | undefined
  /** Made when an entry of the index is left out. */
  #entries: Uint32Array | undefined
  /** Made when a length includes padding. */
  #dataLengths: Float64Array | undefined

  /** `most` is what the index has room for. */
  constructor(most: number) {
    this.#most = most
    this.offsets = new Float64Array(most)
    this.lengths = new Float64Array(most)
    this.#shardNumbers = new Uint32Array(most)
    this.#hashForms = new Uint8Array(most)
  }

  get count(): number {
    return this.tensors.length
  }

  /** `dataLength`: how many of the stored bytes are data. */
  add(tensor: Tensor, entry: IndexEntry, dataLength: number, chunk: Chunk | undefined): void {
    const i = this.tensors.length
    this.tensors.push(tensor, entry.nameBytes, entry.nameStart, entry.nameEnd)
    this.#put(i, entry.index, entry.shardId, chunk, Number(entry.dataOff), Number(entry.dataLen), dataLength)
    if (entry.hashForm === 'none') this.#hashForms[i] = noHash
    else if (entry.hashForm === 'malformed') this.#hashForms[i] = malformedHash
    else {
      this.#hashForms[i] = properHash
      this.#hashes ??= new Uint32Array(this.#most * digestWords)
      for (let k = 0; k < digestWords; k++) this.#hashes[i * digestWords + k] = entry.hashWords[k]!
    }
  }

  /** Takes what another table says about its tensor k, which lies here in `chunk`. */
  adopt(other: TensorTable, k: number, tensor: Tensor, chunk: Chunk): void {
    const i = this.tensors.length
    const [offset, length] = [other.offsets[k]!, other.lengths[k]!]
    this.tensors.push(tensor)
    this.#put(i, other.entryOf(k), other.shardIdOf(k), chunk, offset, length, other.dataLengthOf(k))
    this.#hashForms[i] = other.#hashForms[k]!
    if (!other.#hashes || this.#hashForms[i] !== properHash) return
    this.#hashes ??= new Uint32Array(this.#most * digestWords)
    this.#hashes.set(other.#hashes.subarray(k * digestWords, (k + 1) * digestWords), i * digestWords)
  }

  #put(
    i: number,
    entry: number,
    shardId: number,
    chunk: Chunk | undefined,
    offset: number,
    length: number,
    dataLength: number,
  ): void {
    this.#shardNumbers[i] = this.#numberOf(shardId, chunk, i)
    this.offsets[i] = offset
    this.lengths[i] = length
    if (entry !== i) this.#entries ??= new Uint32Array(this.#most).map((_, k) => k)
    if (this.#entries) this.#entries[i] = entry
    if (dataLength !== length) this.#dataLengths ??= this.lengths.slice()
    if (this.#dataLengths) this.#dataLengths[i] = dataLength
  }

  /** Neighbours mostly lie in the same shard. */
  #numberOf(id: number, chunk: Chunk | undefined, i: number): number {
    const last = i === 0 ? undefined : this.#shardNumbers[i - 1]!
    if (last !== undefined && this.#shards[last]!.id === id) return last
    const known = this.#numberOfId.get(id)
    if (known !== undefined) return known
    this.#numberOfId.set(id, this.#shards.length)
    return this.#shards.push({ id, chunk }) - 1
  }

  /** The position of tensor i in the index of the file. */
  entryOf(i: number): number {
    return this.#entries?.[i] ?? i
  }

  /** The number of the shard that the index names. */
  shardIdOf(i: number): number {
    return this.#shards[this.#shardNumbers[i]!]!.id
  }

  /** The chunk that tensor i lies in. */
  shardOf(i: number): Chunk | undefined {
    return this.#shards[this.#shardNumbers[i]!]!.chunk
  }

  /** All chunks that tensors lie in. */
  usedShards(): Set<Chunk> {
    return new Set(this.#shards.flatMap(({ chunk }) => chunk ?? []))
  }

  /** The stored range in the file; the tensor's data can be shorter, where a length includes padding. */
  startOf(i: number): number {
    const chunk = this.shardOf(i)
    return chunk ? chunk.offset + this.offsets[i]! : 0
  }

  endOf(i: number): number {
    const chunk = this.shardOf(i)
    return chunk ? chunk.offset + this.offsets[i]! + this.lengths[i]! : 0
  }

  /** How many of the stored bytes are data. */
  dataLengthOf(i: number): number {
    return (this.#dataLengths ?? this.lengths)[i]!
  }

  /** The hash of tensor i, where the index has a proper one. */
  hashOf(i: number): Uint8Array | undefined {
    if (!this.hasHash(i)) return undefined
    return new Uint8Array(this.#hashes!.buffer, i * digestSize, digestSize)
  }

  hasHash(i: number): boolean {
    return this.#hashForms[i] === properHash
  }

  /** Whether the hash of tensor i is no hash, which counts as a wrong one. */
  hasMalformedHash(i: number): boolean {
    return this.#hashForms[i] === malformedHash
  }

  /** Tensor numbers by where they start. */
  inFileOrder(): Iterable<number> {
    const { count } = this
    const compare = (a: number, b: number): number => this.startOf(a) - this.startOf(b) || this.endOf(a) - this.endOf(b)
    return sortedPositions(count, compare)
  }
}
