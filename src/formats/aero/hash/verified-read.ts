// Reading parts of a file with proof. Where the file has page hashes, a read fetches whole pages, compares exactly those, and hands out
// the piece that was asked for. Where it has only a hash of the tensor, the tensor is compared as a whole. What no hash covers is handed
// out as it is; the proof says how much of what was read was compared with what. A slice is read in many pieces; the page or tensor that
// the last one lay in is kept, so that the next need not have it fetched and compared again.
import { checkRange, streamRange } from '../../../bytes/index.js'
import { createHasher, digestOf } from '../../../digest/index.js'
import { failWith } from '../../../errors/index.js'
import { type Payload, type ReadProof, rechunked, type VerifiedPayload } from '../../../model/index.js'
import { codes } from '../codes.js'
import { type Chunk, sameBytes } from '../control/chunk.js'
import { type AeroFile, pageTablesOf } from '../file.js'
import { type Located, locate } from './locate.js'
import { loadPageTable, type PageTable } from './phsh.js'

const defaultWholeLimit = 64 * 2 ** 20
const window = 1 << 20
/** A page table that begins the file has usually come along with the index. */
const nearTable = 512 * 1024

export const verifiedPayload: VerifiedPayload = (model, tensor, options, proof) =>
  tensor.data
    ? new Verified(tensor.data, () => locate(model, tensor), proof, options.wholeTensorLimit ?? defaultWholeLimit)
    : undefined

/** The stretch of a tensor that somebody wants. */
interface Wanted extends Located {
  /** Counted from the start of the tensor. */
  readonly offset: number
  readonly length: number
  readonly signal: AbortSignal | undefined
}

/** The page or tensor that was compared last. One for all tensors of a model is enough, and bounds the memory. */
interface Proven {
  readonly file: AeroFile
  readonly offset: number
  readonly bytes: Uint8Array
}

const lastProven = new WeakMap<ReadProof, Proven>()

type Pieces = AsyncGenerator<Uint8Array, void, void>

class Verified implements Payload {
  readonly byteLength: number
  readonly #stored: Payload
  readonly #find: () => Promise<Located | undefined>
  readonly #proof: ReadProof
  readonly #limit: number

  constructor(stored: Payload, find: () => Promise<Located | undefined>, proof: ReadProof, limit: number) {
    this.byteLength = stored.byteLength
    this.#stored = stored
    this.#find = find
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

  chunks(windowSize: number, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    return rechunked(this.#pieces(0, this.byteLength, signal), windowSize)
  }

  async *#pieces(offset: number, length: number, signal?: AbortSignal): Pieces {
    if (length === 0) return
    const place = await this.#find()
    const wanted: Wanted | undefined = place && { ...place, offset, length, signal }
    const pages = wanted && (await this.#pagesFor(wanted))
    if (pages) yield* this.#fromPages(wanted, pages)
    else if (wanted && this.#canTakeWhole(wanted))
      yield* length < this.byteLength ? this.#fromKeptTensor(wanted) : this.#fromTensor(wanted)
    else yield* this.#unproven(offset, length, signal)
  }

  /** The page table, unless the tensor's own hash gets by without it: whole tensors need no pages, and fetching their table takes time. */
  async #pagesFor(wanted: Wanted): Promise<PageTable | undefined> {
    const { file, position, signal } = wanted
    const shard = file.table.shardOf(position)!
    const chunk = pageTablesOf(file).get(shard)
    if (!chunk) return undefined
    const isNear = chunk.offset + chunk.length <= nearTable
    if (!isNear && wanted.length === this.byteLength && file.table.hashOf(position)) return undefined
    const table = await loadPageTable(file, shard, chunk, signal)
    return table && table.pageSize <= this.#limit ? table : undefined
  }

  #canTakeWhole({ file, position, length }: Wanted): boolean {
    const { table } = file
    const stored = table.endOf(position) - table.startOf(position)
    return table.hashOf(position) !== undefined && (length === this.byteLength || stored <= this.#limit)
  }

  async *#fromPages({ file, position, offset, length, signal }: Wanted, { pageSize, digests }: PageTable): Pieces {
    const shard = file.table.shardOf(position)!
    const start = file.table.startOf(position) + offset
    const end = start + length
    let page = Math.floor((start - shard.offset) / pageSize)
    let at = shard.offset + page * pageSize
    const last = Math.min(shard.offset + Math.ceil((end - shard.offset) / pageSize) * pageSize, endOf(shard))
    this.#note(`page hashes of ${shard.name}`)
    const hand = (bytes: Uint8Array): Uint8Array => {
      const piece = bytes.subarray(Math.max(0, start - at), Math.max(0, end - at))
      this.#proof.pageBytes += piece.byteLength
      at += bytes.byteLength
      return piece
    }
    const known = this.#provenAt(file, at, Math.min(pageSize, endOf(shard) - at))
    if (known) {
      yield hand(known)
      page++
    }
    if (at >= last) return
    const range = { source: file.source, offset: at, length: last - at }
    for await (const bytes of streamRange(range, pageSize * Math.max(1, Math.floor(window / pageSize)), signal)) {
      for (let from = 0; from < bytes.byteLength; from += pageSize, page++) {
        const own = bytes.subarray(from, from + pageSize)
        if (!sameBytes(await digestOf('blake3', own), digests[page]!)) failPage(file, shard, page, at + from, own)
        this.#proof.pages++
        if (at + from + pageSize >= last && end < last)
          lastProven.set(this.#proof, { file, offset: at + from, bytes: own.slice() })
      }
      yield hand(bytes)
    }
  }

  async *#fromTensor({ file, position, signal }: Wanted): Pieces {
    const { table, source } = file
    const start = table.startOf(position)
    const hasher = await createHasher('blake3')
    let held: Uint8Array | undefined
    let left = this.byteLength
    const range = { source, offset: start, length: table.endOf(position) - start }
    for await (const bytes of streamRange(range, window, signal)) {
      hasher.update(bytes)
      const piece = bytes.slice(0, left)
      left -= piece.byteLength
      // A tensor can be long: it is handed on at once, and the last piece only when everything is right.
      if (held && piece.byteLength > 0) yield held
      if (piece.byteLength > 0) held = piece
    }
    if (!sameBytes(hasher.digest(), table.hashOf(position)!)) failTensor(file, position)
    this.#noteTensor(this.byteLength)
    if (held) yield held
  }

  async *#fromKeptTensor({ file, position, offset, length, signal }: Wanted): Pieces {
    const { table, source } = file
    const start = table.startOf(position)
    const stored = table.endOf(position) - start
    let whole = this.#provenAt(file, start, stored)
    if (!whole) {
      whole = await source.read(start, stored, { signal })
      if (!sameBytes(await digestOf('blake3', whole), table.hashOf(position)!)) failTensor(file, position)
      lastProven.set(this.#proof, { file, offset: start, bytes: whole })
    }
    this.#noteTensor(length)
    yield whole.subarray(offset, offset + length)
  }

  #provenAt(file: AeroFile, offset: number, length: number): Uint8Array | undefined {
    const proven = lastProven.get(this.#proof)
    return proven?.file === file && proven.offset === offset && proven.bytes.byteLength === length
      ? proven.bytes
      : undefined
  }

  async *#unproven(offset: number, length: number, signal?: AbortSignal): Pieces {
    const isWhole = length === this.byteLength
    const pieces =
      isWhole || !this.#stored.read
        ? this.#stored.chunks(window, signal)
        : [await this.#stored.read(offset, length, signal)]
    let at = isWhole || !this.#stored.read ? 0 : offset
    for await (const bytes of pieces) {
      const piece = bytes.subarray(Math.max(0, offset - at), Math.max(0, offset + length - at))
      this.#proof.unprovenBytes += piece.byteLength
      yield piece
      at += bytes.byteLength
    }
  }

  #noteTensor(length: number): void {
    this.#note('hash_b3 of the tensor')
    this.#proof.tensorBytes += length
  }

  #note(against: string): void {
    if (!this.#proof.against.includes(against)) this.#proof.against.push(against)
  }
}

const endOf = (chunk: Chunk): number => chunk.offset + chunk.length

function failPage({ source }: AeroFile, shard: Chunk, page: number, offset: number, bytes: Uint8Array): never {
  const message = `page ${page} of ${JSON.stringify(shard.name)} does not have the digest in its page table`
  const place = { file: source.name, offset, length: bytes.byteLength, path: `${shard.name}.pages[${page}]` }
  return failWith(codes['phsh-digest'], { ...place, message })
}

function failTensor({ table, source }: AeroFile, position: number): never {
  const offset = table.startOf(position)
  const path = `tensors[${table.entryOf(position)}].hash_b3`
  const message = `${JSON.stringify(table.tensors.nameAt(position))} does not have the hash in the index`
  const place = { file: source.name, offset, length: table.endOf(position) - offset, path }
  return failWith(codes['tensor-hash-b3'], { ...place, message })
}
