// Reading parts of a file with proof. Where the file has page hashes, a read fetches whole pages, compares exactly those, and hands out
// the bytes that were requested. Where it has only a hash of the tensor, the tensor is compared as a whole. Bytes that no hash covers are
// handed out as they are; the proof says how much of what was read was compared with what. A slice is read in many pieces; the page or
// tensor that was compared last is kept, so that the next piece need not fetch and compare it again.
import { checkRange, streamRange, toHex } from '../../../bytes/index.js'
import { createHasher, digestOf } from '../../../digest/index.js'
import { failWith } from '../../../errors/index.js'
import {
  type Model,
  type Payload,
  type ReadProof,
  rechunked,
  type Tensor,
  type VerifiedPayload,
} from '../../../model/index.js'
import { codes } from '../codes.js'
import { type Chunk, endOf, sameBytes } from '../control/chunk.js'
import { type AeroFile, fileOf, type PageTable, type Proven, type TensorEntry } from '../file.js'
import { setOf } from '../set/read-set.js'
import { loadPageTable } from './phsh.js'

const defaultWholeLimit = 64 * 2 ** 20
const window = 1 << 20
/** A page table within the first bytes of a file was most likely fetched together with the index. */
const nearTable = 512 * 1024

export const verifiedPayload: VerifiedPayload = (model, tensor, { wholeTensorLimit }, proof) => {
  if (!tensor.data) return undefined
  const owner = fileOf(model) ?? setOf(model) ?? {}
  return new Verified(tensor.data, () => locate(model, tensor), owner, proof, wholeTensorLimit ?? defaultWholeLimit)
}

/** A tensor's entry in its file, which is a part where the model is a set. */
export interface Located {
  readonly file: AeroFile
  readonly entry: TensorEntry
}

/** Undefined for bytes that are not those of the file. */
async function locate(model: Model, tensor: Tensor): Promise<Located | undefined> {
  const file = fileOf(model)
  if (!file) return setOf(model)?.locate(tensor)
  const entry = file.entryOf(tensor.name)
  return entry && entry.tensor.data === tensor.data ? { file, entry } : undefined
}

/** The bytes of a tensor that are to be read. */
interface Wanted extends Located {
  /** Counted from the start of the tensor. */
  readonly offset: number
  readonly length: number
  readonly signal: AbortSignal | undefined
}

type Pieces = AsyncGenerator<Uint8Array, void, void>

class Verified implements Payload {
  readonly byteLength: number
  readonly #stored: Payload
  readonly #find: () => Promise<Located | undefined>
  /** Keeps what was compared last, for all tensors of the model. */
  readonly #owner: { lastProven?: Proven | undefined }
  readonly #proof: ReadProof
  readonly #limit: number

  constructor(
    stored: Payload,
    find: () => Promise<Located | undefined>,
    owner: { lastProven?: Proven | undefined },
    proof: ReadProof,
    limit: number,
  ) {
    this.byteLength = stored.byteLength
    this.#stored = stored
    this.#find = find
    this.#owner = owner
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
    else if (wanted && this.#canCompareWhole(wanted))
      yield* length < this.byteLength ? this.#fromKeptTensor(wanted) : this.#fromTensor(wanted)
    else yield* this.#unproven(offset, length, signal)
  }

  /** The page table, unless the tensor's own hash will do: a whole tensor needs no pages, and fetching their table takes time. */
  async #pagesFor({ file, entry, length, signal }: Wanted): Promise<PageTable | undefined> {
    const shard = entry.shard!
    const chunk = file.pageTables.get(shard)
    if (!chunk) return undefined
    const isNear = endOf(chunk) <= nearTable
    if (!isNear && length === this.byteLength && entry.hash) return undefined
    const table = await loadPageTable(file, shard, chunk, signal)
    return table && table.pageSize <= this.#limit ? table : undefined
  }

  #canCompareWhole({ entry, length }: Wanted): boolean {
    return Boolean(entry.hash) && (length === this.byteLength || lengthOf(entry) <= this.#limit)
  }

  async *#fromPages({ file, entry, offset, length, signal }: Wanted, { pageSize, digests }: PageTable): Pieces {
    const shard = entry.shard!
    const start = entry.start + offset
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
    const known = this.#provenAt(file, at, Math.min(at + pageSize, endOf(shard)))
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
        if (at + from + pageSize >= last && end < last) this.#keep(file, at + from, own.slice())
      }
      yield hand(bytes)
    }
  }

  async *#fromTensor({ file, entry, signal }: Wanted): Pieces {
    const hasher = await createHasher('blake3')
    let held: Uint8Array | undefined
    let left = this.byteLength
    const range = { source: file.source, offset: entry.start, length: lengthOf(entry) }
    for await (const bytes of streamRange(range, window, signal)) {
      hasher.update(bytes)
      const piece = bytes.slice(0, left)
      left -= piece.byteLength
      // A tensor can be long, so its pieces are handed out at once; only the last one waits until the hash was compared.
      if (held && piece.byteLength > 0) yield held
      if (piece.byteLength > 0) held = piece
    }
    if (toHex(hasher.digest()) !== entry.hash) failTensor(file, entry)
    this.#noteTensor(this.byteLength)
    if (held) yield held
  }

  async *#fromKeptTensor({ file, entry, offset, length, signal }: Wanted): Pieces {
    let whole = this.#provenAt(file, entry.start, entry.end)
    if (!whole) {
      whole = await file.source.read(entry.start, lengthOf(entry), { signal })
      if (toHex(await digestOf('blake3', whole)) !== entry.hash) failTensor(file, entry)
      this.#keep(file, entry.start, whole)
    }
    this.#noteTensor(length)
    yield whole.subarray(offset, offset + length)
  }

  #keep(file: AeroFile, start: number, bytes: Uint8Array): void {
    this.#owner.lastProven = { proof: this.#proof, file, start, end: start + bytes.byteLength, bytes }
  }

  #provenAt(file: AeroFile, start: number, end: number): Uint8Array | undefined {
    const last = this.#owner.lastProven
    const isSame = last?.proof === this.#proof && last.file === file && last.start === start && last.end === end
    return isSame ? last.bytes : undefined
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

function failPage({ source }: AeroFile, shard: Chunk, page: number, offset: number, bytes: Uint8Array): never {
  const message = `page ${page} of ${JSON.stringify(shard.name)} does not have the digest in its page table`
  const place = { file: source.name, offset, length: bytes.byteLength, path: `${shard.name}.pages[${page}]` }
  return failWith(codes['phsh-digest'], { ...place, message })
}

const lengthOf = ({ start, end }: TensorEntry): number => end - start

function failTensor({ source }: AeroFile, entry: TensorEntry): never {
  const message = `${JSON.stringify(entry.tensor.name)} does not have the hash in the index`
  const place = { offset: entry.start, length: lengthOf(entry), path: `tensors[${entry.index}].hash_b3` }
  return failWith(codes['tensor-hash-b3'], { file: source.name, ...place, message })
}
