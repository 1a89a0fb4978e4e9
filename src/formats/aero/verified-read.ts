// Reading parts of a file with proof. Where the file has page hashes, a read fetches whole pages, compares exactly those, and hands out
// the piece that was asked for. Where it has only a hash of the tensor, the tensor is compared as a whole. What no hash covers is handed
// out as it is; the proof says how much of what was read was compared with what.
import { checkRange } from '../../bytes/index.js'
import { createHasher, digestOf } from '../../digest/index.js'
import { failWith, strictReport } from '../../errors/index.js'
import { defaultLimits, type Model, type Payload, rechunked, type Tensor } from '../../model/index.js'
import { type Chunk, readChunks, sameBytes } from './chunk.js'
import { codes } from './codes.js'
import { type AeroFile, fileOf, pageTablesOf } from './file.js'
import { type PageTable, parsePageTable } from './phsh.js'
import { setOf } from './read-set.js'

/** What reads were compared with so far. */
export interface ReadProof {
  /** Pages that were read and had the digest of the page table. */
  pages: number
  /** Bytes handed out from such pages. */
  pageBytes: number
  /** Bytes handed out of tensors that had the hash of the index. */
  tensorBytes: number
  /** Bytes handed out that nothing could be compared with. */
  unprovenBytes: number
}

export interface VerifiedReadOptions {
  /** A slice of a tensor that has only a hash of its own makes the whole tensor be read; not when it is larger than this (64 MiB). */
  readonly wholeTensorLimit?: number
}

export interface VerifiedModel {
  readonly model: Model
  readonly proof: ReadProof
}

/** The same model; reading its tensors throws when the bytes are not what the file's hashes say. Works for files and for sets. */
export function withVerifiedReads(model: Model, options: VerifiedReadOptions = {}): VerifiedModel {
  const proof: ReadProof = { pages: 0, pageBytes: 0, tensorBytes: 0, unprovenBytes: 0 }
  const limit = options.wholeTensorLimit ?? 64 * 2 ** 20
  const pages = new PageTables()
  const locate = locator(model)
  const tensors = model.tensors.map((tensor, i): Tensor => {
    if (!tensor.data || !locate) return tensor
    return {
      ...tensor,
      data: new VerifiedPayload(tensor.data.byteLength, () => locate(tensor, i), pages, proof, limit),
    }
  })
  return { model: { ...model, tensors }, proof }
}

/** A tensor's place in its file. */
interface Located {
  readonly file: AeroFile
  readonly position: number
}

function locator(model: Model): ((tensor: Tensor, i: number) => Located | Promise<Located>) | undefined {
  const file = fileOf(model)
  if (file) {
    const positions = new Map(file.table.tensors.map((tensor, i) => [tensor.name, i]))
    return (tensor) => ({ file, position: positions.get(tensor.name)! })
  }
  const set = setOf(model)
  return set && ((tensor) => set.locate(tensor.name))
}

/** Page tables are read when first needed, and compared with their own hash. */
class PageTables {
  readonly #tables = new Map<Chunk, Promise<PageTable | undefined>>()

  of(file: AeroFile, shard: Chunk, signal?: AbortSignal): Promise<PageTable | undefined> {
    const known = this.#tables.get(shard)
    if (known) return known
    const reading = this.#read(file, shard, signal)
    this.#tables.set(shard, reading)
    reading.catch(() => this.#tables.delete(shard))
    return reading
  }

  async #read(file: AeroFile, shard: Chunk, signal?: AbortSignal): Promise<PageTable | undefined> {
    const table = pageTablesOf(file).get(shard)
    if (!table || shard.length === 0) return undefined
    const report = strictReport(file.source.name)
    const [content] = await readChunks(file.source, [table], { report, limits: defaultLimits, lenient: false, signal })
    return content && parsePageTable(content, shard, report)
  }
}

/** Pages that are fetched together, so that a long stream needs few reads and little memory. */
const mostFetched = 16 * 2 ** 20

class VerifiedPayload implements Payload {
  readonly byteLength: number
  readonly #locate: () => Located | Promise<Located>
  readonly #pages: PageTables
  readonly #proof: ReadProof
  readonly #limit: number

  constructor(
    byteLength: number,
    locate: () => Located | Promise<Located>,
    pages: PageTables,
    proof: ReadProof,
    limit: number,
  ) {
    this.byteLength = byteLength
    this.#locate = locate
    this.#pages = pages
    this.#proof = proof
    this.#limit = limit
  }

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    checkRange({ name: 'tensor', size: this.byteLength }, offset, length)
    const result = new Uint8Array(length)
    let at = 0
    for await (const piece of this.#pieces(offset, length, signal)) {
      result.set(piece, at)
      at += piece.byteLength
    }
    return result
  }

  chunks(window: number, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    return rechunked(this.#pieces(0, this.byteLength, signal), window)
  }

  async *#pieces(offset: number, length: number, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    if (length === 0) return
    const { file, position } = await this.#locate()
    const shard = file.table.shards[position]!
    const table = await this.#pages.of(file, shard, signal)
    const start = file.table.starts[position]! + offset
    if (table) yield* this.#fromPages(file, shard, table, start, length, signal)
    else if (file.table.hashOf(position)) yield* this.#fromTensor(file, position, offset, length, signal)
    else yield* this.#unproven(file, start, length, signal)
  }

  async *#fromPages(
    file: AeroFile,
    shard: Chunk,
    { pageSize, digests }: PageTable,
    start: number,
    length: number,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, void> {
    const shardEnd = shard.offset + shard.length
    const group = Math.max(1, Math.floor(mostFetched / pageSize))
    const last = Math.floor((start + length - 1 - shard.offset) / pageSize)
    let page = Math.floor((start - shard.offset) / pageSize)
    while (page <= last) {
      const count = Math.min(group, last - page + 1)
      const from = shard.offset + page * pageSize
      const bytes = await file.source.read(from, Math.min(from + count * pageSize, shardEnd) - from, { signal })
      for (let k = 0; k < count; k++) {
        const own = bytes.subarray(k * pageSize, (k + 1) * pageSize)
        if (!sameBytes(await digestOf('blake3', own), digests[page + k]!)) {
          const message = `page ${page + k} of ${JSON.stringify(shard.name)} does not have the digest in its page table`
          const place = { file: file.source.name, offset: from + k * pageSize, length: own.byteLength }
          failWith(codes['phsh-digest'], { ...place, path: `${shard.name}.pages[${page + k}]`, message })
        }
        this.#proof.pages++
      }
      const piece = bytes.subarray(Math.max(0, start - from), start + length - from)
      this.#proof.pageBytes += piece.byteLength
      yield piece
      page += count
    }
  }

  async *#fromTensor(
    file: AeroFile,
    position: number,
    offset: number,
    length: number,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, void> {
    const { table, source } = file
    const start = table.starts[position]!
    const stored = table.ends[position]! - start
    const isSlice = offset > 0 || length < this.byteLength
    if (isSlice && stored > this.#limit) {
      yield* this.#unproven(file, start + offset, length, signal)
      return
    }
    const hasher = await createHasher('blake3')
    const kept: Uint8Array[] = []
    for (let at = 0; at < stored; at += mostFetched) {
      const bytes = await source.read(start + at, Math.min(mostFetched, stored - at), { signal })
      hasher.update(bytes)
      const piece = bytes.subarray(Math.max(0, offset - at), Math.max(0, offset + length - at))
      // A whole tensor can be long: it is handed on at once, and the last piece only when everything is right.
      if (piece.byteLength > 0) kept.push(piece)
      while (!isSlice && kept.length > 1) yield kept.shift()!
    }
    if (!sameBytes(hasher.digest(), table.hashOf(position)!)) {
      const name = JSON.stringify(table.tensors[position]!.name)
      const place = {
        file: source.name,
        offset: start,
        length: stored,
        path: `tensors[${table.entries[position]}].hash_b3`,
      }
      failWith(codes['tensor-hash-b3'], { ...place, message: `${name} does not have the hash in the index` })
    }
    this.#proof.tensorBytes += length
    yield* kept
  }

  async *#unproven(
    file: AeroFile,
    start: number,
    length: number,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, void> {
    for (let at = 0; at < length; at += mostFetched) {
      const bytes = await file.source.read(start + at, Math.min(mostFetched, length - at), { signal })
      this.#proof.unprovenBytes += bytes.byteLength
      yield bytes
    }
  }
}
