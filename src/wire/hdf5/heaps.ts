// Heaps: the names of a group's members, and texts whose length differs from element to element.
import { alignUp, decodeUtf8 } from '../../bytes/index.js'
import { hdf5Codes as codes } from './codes.js'
import { type Hdf5File, numberIn } from './file.js'

/** The names of the members of an older group. */
export class NameHeap {
  readonly #file: Hdf5File
  readonly #bytes: Uint8Array
  readonly #base: number

  private constructor(file: Hdf5File, bytes: Uint8Array, base: number) {
    this.#file = file
    this.#bytes = bytes
    this.#base = base
  }

  static async read(file: Hdf5File, address: number, path: string): Promise<NameHeap> {
    const cursor = await file.cursor(address, 8 + 2 * file.lengthSize + file.offsetSize, path)
    file.signature(cursor, 'HEAP')
    file.version(cursor, [0])
    cursor.raw(3, 'reserved')
    const size = file.length(cursor, 'data_size')
    cursor.raw(file.lengthSize, 'free_list')
    const data = file.neededAddress(cursor, 'data_address')
    const names = await file.cursor(data, size, `${path}.names`)
    return new NameHeap(file, names.raw(size, 'data'), file.base + data)
  }

  name(at: number, path: string): string {
    const end = at < this.#bytes.byteLength ? this.#bytes.indexOf(0, at) : -1
    return checkedName(this.#file, end < 0 ? undefined : this.#bytes.subarray(at, end), this.#base + at, path)
  }
}

/** No name of an honest file is longer. */
const maxName = 4096

export function checkedName(file: Hdf5File, bytes: Uint8Array | undefined, offset: number, path: string): string {
  const name = bytes && bytes.byteLength <= maxName ? decodeUtf8(bytes) : undefined
  if (name) return name
  const message = bytes?.byteLength === 0 ? 'it is empty' : 'it does not end, is too long, or is not UTF-8'
  return file.report.fail(codes.name, { offset, path, message })
}

interface HeapObject {
  readonly address: number
  readonly length: number
}

/** Texts of any length lie in collections that the whole file shares. */
export class TextHeap {
  readonly #file: Hdf5File
  readonly #collections = new Map<number, ReadonlyMap<number, HeapObject>>()

  constructor(file: Hdf5File) {
    this.#file = file
  }

  /** What a reference of 4 + address + 4 bytes leads to; empty where it leads nowhere. */
  async read(reference: Uint8Array, offset: number, path: string): Promise<Uint8Array> {
    const file = this.#file
    const length = numberIn(reference.subarray(0, 4))!
    const address = numberIn(reference.subarray(4, 4 + file.offsetSize))
    const index = numberIn(reference.subarray(4 + file.offsetSize, 8 + file.offsetSize))!
    if (length === 0 || address === 0) return new Uint8Array()
    const objects = address === undefined ? undefined : await this.#collection(address, path)
    const object = objects?.get(index)
    if (!object || object.length < length) {
      const message = `a text of ${length} bytes is not where it is said to be`
      return file.report.fail(codes.outside, { offset, path, message })
    }
    file.takeText(length, offset, path)
    return file.bytes(object.address, length, path)
  }

  async #collection(address: number, path: string): Promise<ReadonlyMap<number, HeapObject>> {
    const known = this.#collections.get(address)
    if (known) return known
    const file = this.#file
    const headSize = 8 + file.lengthSize
    const size = numberIn((await file.bytes(address, headSize, path)).subarray(8)) ?? 0
    const cursor = await file.cursor(address, Math.max(size, headSize), 'texts')
    file.signature(cursor, 'GCOL')
    file.version(cursor, [1])
    cursor.raw(3, 'reserved')
    file.length(cursor, 'size')
    const objects = new Map<number, HeapObject>()
    while (cursor.remaining >= headSize) {
      cursor.enter('texts', objects.size)
      const index = cursor.u16('index')
      cursor.u16('reference_count')
      cursor.raw(4, 'reserved')
      const length = file.length(cursor, 'size')
      if (index !== 0) objects.set(index, { address: cursor.offset - file.base, length })
      // Number 0 is what is free, together with its own fields.
      if (index === 0) break
      const stored = alignUp(length, 8)
      if (stored > 0) cursor.raw(stored, 'text')
      cursor.leave(2)
    }
    if (cursor.remaining > 0) cursor.raw(cursor.remaining, 'free')
    this.#collections.set(address, objects)
    return objects
  }
}
