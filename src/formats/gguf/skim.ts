// The walk through the index that finds where everything is and decodes nothing: strings and arrays are stepped over. A vocabulary of
// 150,000 tokens costs as many additions. Every count and length is compared with what is left of the file before it is believed.
import type { Code } from '../../errors/index.js'
import type { ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import { type IndexBytes, Shortage } from './index-bytes.js'
import { maxDims } from './structs.js'
import { arrayType, stringType, valueTypes } from './value-types.js'

/** What the first eight bytes settle. */
export interface Encoding {
  readonly version: number
  readonly littleEndian: boolean
  /** Lengths and counts have 8 bytes; 4 in version 1. */
  readonly lengthSize: 4 | 8
}

/** One metadata entry; all positions are offsets in the file. */
export interface Entry {
  readonly start: number
  readonly keyLength: number
  readonly type: number
  readonly value: number
  readonly end: number
}

export interface Skimmed {
  readonly entries: readonly Entry[]
  readonly tensorsStart: number
  readonly end: number
}

export class Skimmer {
  readonly #index: IndexBytes
  readonly #encoding: Encoding
  readonly #context: ReadContext
  readonly #size: number

  constructor(index: IndexBytes, encoding: Encoding, context: ReadContext) {
    this.#index = index
    this.#encoding = encoding
    this.#context = context
    this.#size = index.source.size
  }

  async run(start: number, entryCount: bigint, tensorCount: bigint): Promise<Skimmed> {
    const { lengthSize } = this.#encoding
    this.#checkCount(entryCount, lengthSize + 5, start, 'metadata_kv_count')
    this.#checkCount(tensorCount, lengthSize + 16, start, 'tensor_count')
    const entries: Entry[] = []
    let at = start
    while (entries.length < Number(entryCount)) {
      try {
        while (entries.length < Number(entryCount)) {
          const entry = this.#entry(at, entries.length)
          entries.push(entry)
          at = entry.end
        }
      } catch (error) {
        await this.#index.supply(error)
      }
    }
    const tensorsStart = at
    for (let i = 0; i < Number(tensorCount); ) {
      try {
        for (; i < Number(tensorCount); i++) at = this.#tensor(at, i)
      } catch (error) {
        await this.#index.supply(error)
      }
    }
    await this.#index.reach(at)
    return { entries, tensorsStart, end: at }
  }

  /** `least` is the shortest that an entry can be. */
  #checkCount(count: bigint, least: number, start: number, path: string): void {
    if (count * BigInt(least) <= BigInt(this.#size - start)) return
    const message = `${count} are announced, but ${this.#size - start} bytes are left, and each takes at least ${least}`
    this.#fail(codes.count, start, path, message)
  }

  #entry(start: number, i: number): Entry {
    const keyLength = this.#length(start, () => `metadata[${i}].key_length`, codes['string-length'])
    const typeAt = start + this.#encoding.lengthSize + keyLength
    const type = this.#u32(typeAt, () => `metadata[${i}].value_type`)
    const value = typeAt + 4
    return { start, keyLength, type, value, end: this.#value(type, value, typeAt, 0, () => `metadata[${i}].value`) }
  }

  /** The end of the value that begins at `at`. */
  #value(number: number, at: number, typeAt: number, depth: number, path: () => string): number {
    const type = valueTypes[number]
    if (!type) return this.#fail(codes['value-type'], typeAt, path(), `${number} is no type of value`)
    if (type.size > 0) return this.#claim(at, type.size, path)
    const { lengthSize } = this.#encoding
    if (type === stringType) return at + lengthSize + this.#length(at, path, codes['string-length'])
    if (depth >= this.#context.limits.depth) {
      return this.#fail(codes.depth, at, path(), `arrays are nested more than ${depth} deep`)
    }
    const itemNumber = this.#u32(at, path)
    const itemType = valueTypes[itemNumber]
    if (!itemType) return this.#fail(codes['value-type'], at, path(), `${itemNumber} is no type of value`)
    const first = at + 4 + lengthSize
    const least = itemType.size || (itemType === arrayType ? lengthSize + 4 : lengthSize)
    const count = this.#length(at + 4, path, codes['array-length'], least)
    if (itemType.size > 0) return first + count * itemType.size
    if (itemType === stringType) return this.#strings(first, count, path)
    let end = first
    for (let i = 0; i < count; i++) end = this.#value(itemNumber, end, at, depth + 1, () => `${path()}[${i}]`)
    return end
  }

  /** No closure may capture the loop's variables: that would cost more than the loop itself. */
  #strings(first: number, count: number, path: () => string): number {
    const { view } = this.#index
    const { littleEndian, lengthSize } = this.#encoding
    const here = view.byteLength - lengthSize
    const longest = this.#size - lengthSize
    const low = littleEndian ? 0 : lengthSize - 4
    const high = lengthSize === 4 ? -1 : 4 - low
    let at = first
    for (let i = 0; i < count; i++) {
      if (at > here) this.#lackStrings(first, at, i, count, path)
      const length = view.getUint32(at + low, littleEndian)
      if (length > longest - at || (high >= 0 && view.getUint32(at + high, littleEndian) !== 0))
        this.#badString(at, i, path)
      at += lengthSize + length
    }
    return at
  }

  /** The strings still to come are taken to be as long as those before. */
  #lackStrings(first: number, at: number, done: number, count: number, path: () => string): void {
    const likely = at + ((at - first) / Math.max(done, 1)) * (count - done)
    this.#claim(at, this.#encoding.lengthSize, path, likely)
  }

  #badString(at: number, i: number, path: () => string): void {
    this.#length(at, () => `${path()}[${i}]`, codes['string-length'])
  }

  /** Steps over a tensor's entry: name, dimensions, type, offset. */
  #tensor(start: number, i: number): number {
    const { lengthSize } = this.#encoding
    const path = (field: string) => () => `tensors[${i}].${field}`
    const nameLength = this.#length(start, path('name_length'), codes['string-length'])
    const dimsAt = start + lengthSize + nameLength
    const dims = this.#u32(dimsAt, path('n_dimensions'))
    if (dims > maxDims && dims * lengthSize > this.#size - dimsAt) {
      this.#fail(codes['dims-count'], dimsAt, path('n_dimensions')(), `${dims} dimensions, ${maxDims} are the most`)
    }
    return this.#claim(dimsAt + 4, dims * lengthSize + 12, path('dimensions'))
  }

  /** A length in items of `unit` bytes, which must fit into the rest of the file. */
  #length(at: number, path: () => string, code: Code, unit = 1): number {
    const { lengthSize, littleEndian } = this.#encoding
    const start = this.#claim(at, lengthSize, path)
    const { view } = this.#index
    const length = lengthSize === 8 ? view.getBigUint64(at, littleEndian) : BigInt(view.getUint32(at, littleEndian))
    if (length * BigInt(unit) <= BigInt(this.#size - start)) return Number(length)
    const items = unit === 1 ? `${length} bytes are` : `${length} items of at least ${unit} bytes are`
    return this.#fail(code, at, path(), `${items} announced, but ${this.#size - start} bytes are left`)
  }

  #u32(at: number, path: () => string): number {
    this.#claim(at, 4, path)
    return this.#index.view.getUint32(at, this.#encoding.littleEndian)
  }

  /** The end of `length` bytes that must be in the file, and here. */
  #claim(at: number, length: number, path: () => string, likely?: number): number {
    const end = at + length
    if (end > this.#size) {
      const message = `${length} bytes are needed here, but only ${Math.max(0, this.#size - at)} are left`
      this.#fail(codes.truncated, Math.min(at, this.#size), path(), message)
    }
    if (end > this.#index.bytes.byteLength) throw new Shortage(end, likely)
    return end
  }

  #fail(code: Code, offset: number, path: string, message: string): never {
    return this.#context.report.fail(code, { offset, path, message })
  }
}
