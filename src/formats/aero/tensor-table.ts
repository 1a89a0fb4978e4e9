// Where the tensors of a file are; entry i of every list belongs to tensor i. Plain lists of numbers: a file can have a million tensors.
import type { Tensor } from '../../model/index.js'
import { PackedTensors } from '../../model/packed-tensors.js'
import type { Chunk } from './chunk.js'
import type { IndexEntry } from './index-entry.js'
import { digestSize, digestWords } from './structs.js'

const noHash = 0
const properHash = 1
const malformedHash = 2

export class TensorTable {
  readonly tensors = new PackedTensors()
  /** Position in the index of the file. */
  readonly entries: Uint32Array
  /** The stored range in the file; the tensor's data can be shorter, where a length includes padding. */
  readonly starts: Float64Array
  readonly ends: Float64Array
  /** The number of the shard that the index names, and the place and length it states: all there is, when the weights are elsewhere. */
  readonly shardIds: Float64Array
  readonly offsets: Float64Array
  readonly lengths: Float64Array
  /** How many of the stored bytes are data. */
  readonly dataLengths: Float64Array
  /** The chunk that each tensor lies in. */
  readonly shards: (Chunk | undefined)[] = []
  readonly #hashForms: Uint8Array
  #hashes: Uint32Array | undefined

  /** `most` is what the index has room for. */
  constructor(most: number) {
    this.entries = new Uint32Array(most)
    this.starts = new Float64Array(most)
    this.ends = new Float64Array(most)
    this.shardIds = new Float64Array(most)
    this.offsets = new Float64Array(most)
    this.lengths = new Float64Array(most)
    this.dataLengths = new Float64Array(most)
    this.#hashForms = new Uint8Array(most)
  }

  get count(): number {
    return this.tensors.length
  }

  /** `dataLength`: how many of the stored bytes are data. */
  add(
    tensor: Tensor,
    entry: IndexEntry,
    dataLength: number,
    shard: Chunk | undefined,
    start: number,
    end: number,
  ): void {
    const i = this.tensors.length
    this.tensors.push(tensor)
    this.shards.push(shard)
    this.entries[i] = entry.index
    this.shardIds[i] = entry.shardId
    this.offsets[i] = Number(entry.dataOff)
    this.lengths[i] = Number(entry.dataLen)
    this.dataLengths[i] = dataLength
    this.starts[i] = start
    this.ends[i] = end
    if (entry.hashForm === 'none') this.#hashForms[i] = noHash
    else if (entry.hashForm === 'malformed') this.#hashForms[i] = malformedHash
    else {
      this.#hashForms[i] = properHash
      this.#hashes ??= new Uint32Array(this.entries.length * digestWords)
      for (let k = 0; k < digestWords; k++) this.#hashes[i * digestWords + k] = entry.hashWords[k]!
    }
  }

  /** Takes what another table says about its tensor k, which begins here at `start`. */
  adopt(other: TensorTable, k: number, tensor: Tensor, shard: Chunk, start: number): void {
    const i = this.tensors.length
    this.tensors.push(tensor)
    this.shards.push(shard)
    this.entries[i] = other.entries[k]!
    this.shardIds[i] = other.shardIds[k]!
    this.offsets[i] = other.offsets[k]!
    this.lengths[i] = other.lengths[k]!
    this.dataLengths[i] = other.dataLengths[k]!
    this.starts[i] = start
    this.ends[i] = start + other.lengths[k]!
    this.#hashForms[i] = other.#hashForms[k]!
    if (!other.#hashes || this.#hashForms[i] !== properHash) return
    this.#hashes ??= new Uint32Array(this.entries.length * digestWords)
    this.#hashes.set(other.#hashes.subarray(k * digestWords, (k + 1) * digestWords), i * digestWords)
  }

  /** The hash of tensor i, where the index has a proper one. */
  hashOf(i: number): Uint8Array | undefined {
    if (this.#hashForms[i] !== properHash) return undefined
    return new Uint8Array(this.#hashes!.buffer, i * digestSize, digestSize)
  }

  /** Whether the hash of tensor i is no hash, which counts as a wrong one. */
  hasMalformedHash(i: number): boolean {
    return this.#hashForms[i] === malformedHash
  }

  /** Tensor numbers by where they start. */
  inFileOrder(): Iterable<number> {
    const { starts, ends, count } = this
    const compare = (a: number, b: number): number => starts[a]! - starts[b]! || ends[a]! - ends[b]!
    for (let i = 1; i < count; i++) {
      if (compare(i - 1, i) > 0) return Uint32Array.from({ length: count }, (_, k) => k).sort(compare)
    }
    return this.tensors.keys()
  }
}
