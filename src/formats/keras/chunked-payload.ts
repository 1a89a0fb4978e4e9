// A dataset that is stored in chunks, as a payload. Chunks are unpacked as they are needed, and the last few are kept: a band of rows needs
// those beside each other, and the next band mostly the same ones.
import type { ByteSource } from '../../bytes/index.js'
import type { Payload } from '../../model/index.js'
import { mosaicPayload, type StoredTile } from '../../payloads/mosaic-payload.js'
import type { Chunk } from '../../wire/hdf5/chunks.js'
import { unpackChunk } from '../../wire/hdf5/unpack.js'
import type { ChunkedStorage, Dataset } from '../../wire/hdf5/walk.js'

/** How many unpacked bytes of a model are kept. */
const maxKept = 1 << 25

/** The chunks that were unpacked last, of all tensors of a model. */
export class ChunkCache {
  readonly #kept = new Map<Chunk, { readonly bytes: Promise<Uint8Array>; readonly length: number }>()
  #size = 0

  get(chunk: Chunk, length: number, unpack: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const known = this.#kept.get(chunk)
    if (known) return known.bytes
    const bytes = unpack()
    this.#kept.set(chunk, { bytes, length })
    this.#size += length
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= maxKept || oldest === chunk) break
      this.#drop(oldest)
    }
    bytes.catch(() => this.#drop(chunk))
    return bytes
  }

  #drop(chunk: Chunk): void {
    this.#size -= this.#kept.get(chunk)?.length ?? 0
    this.#kept.delete(chunk)
  }
}

export function chunkedPayload(
  source: ByteSource,
  dataset: Dataset,
  storage: ChunkedStorage,
  path: string,
  cache: ChunkCache,
): Payload {
  const { shape, type } = dataset
  const store = new ChunkStore(source, dataset, storage, path, cache)
  const tiles = storage.chunks.map((chunk) => new ChunkTile(store, chunk, shape))
  return mosaicPayload(source.name, shape, type.size, tiles)
}

class ChunkStore {
  readonly source: ByteSource
  readonly chunk: readonly number[]
  readonly #storage: ChunkedStorage
  readonly #size: number
  readonly #path: string
  readonly #cache: ChunkCache

  constructor(source: ByteSource, { type }: Dataset, storage: ChunkedStorage, path: string, cache: ChunkCache) {
    this.source = source
    this.chunk = storage.chunk
    this.#storage = storage
    this.#size = type.size
    this.#path = path
    this.#cache = cache
  }

  get #length(): number {
    return this.chunk.reduce((all, dim) => all * dim, this.#size)
  }

  /** The elements of a chunk inside the dataset. */
  read(chunk: Chunk, sizes: readonly number[]): Promise<Uint8Array> {
    return this.#cache.get(chunk, this.#length, () => this.#unpack(chunk, sizes))
  }

  /** Whether its bytes lie in the file as they are. */
  isPlain(sizes: readonly number[]): boolean {
    return this.#storage.filters.length === 0 && this.#isWhole(sizes)
  }

  #isWhole(sizes: readonly number[]): boolean {
    return sizes.every((dim, axis) => dim === this.chunk[axis])
  }

  // Not abortable: others may wait for the same chunk.
  async #unpack(chunk: Chunk, sizes: readonly number[]): Promise<Uint8Array> {
    const { offset, size } = chunk
    const { filters, plainEdges } = this.#storage
    const isWhole = this.#isWhole(sizes)
    const stored = await this.source.read(offset, size)
    const packing = { filters: plainEdges && !isWhole ? [] : filters, length: this.#length, elementSize: this.#size }
    const place = { file: this.source.name, offset, length: size, path: this.#path }
    const bytes = await unpackChunk(stored, chunk, packing, place)
    return isWhole ? bytes : cut(bytes, this.chunk, sizes, this.#size)
  }
}

class ChunkTile implements StoredTile {
  readonly offsets: readonly number[]
  readonly sizes: readonly number[]
  readonly #store: ChunkStore
  readonly #chunk: Chunk

  constructor(store: ChunkStore, chunk: Chunk, shape: readonly number[]) {
    this.#store = store
    this.#chunk = chunk
    this.offsets = chunk.offsets
    this.sizes = shape.map((dim, axis) => Math.min(store.chunk[axis]!, dim - chunk.offsets[axis]!))
  }

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    const { source } = this.#store
    if (this.#store.isPlain(this.sizes)) return source.read(this.#chunk.offset + offset, length, { signal })
    const bytes = await this.#store.read(this.#chunk, this.sizes)
    return bytes.subarray(offset, offset + length)
  }
}

/** The first elements of a box along each of its axes. */
function cut(bytes: Uint8Array, box: readonly number[], sizes: readonly number[], size: number): Uint8Array {
  const out = new Uint8Array(sizes.reduce((all, dim) => all * dim, size))
  const last = sizes.length - 1
  const run = sizes[last]! * size
  let to = 0
  const copy = (axis: number, from: number): void => {
    if (axis === last) {
      out.set(bytes.subarray(from * size, from * size + run), to)
      to += run
      return
    }
    const stride = box.slice(axis + 1).reduce((all, dim) => all * dim, 1)
    for (let i = 0; i < sizes[axis]!; i++) copy(axis + 1, from + i * stride)
  }
  copy(0, 0)
  return out
}
