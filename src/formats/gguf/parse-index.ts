// Finds where everything is in the index: the metadata entries (key, type, value), then the entries of the tensors (name, dimensions, type,
// offset). Nothing says how long the index is, so it is fetched on the way. Every count and length is compared with what is left of the
// file; then values can be decoded where they are. Most of them wait until they are read: a vocabulary of 150,000 tokens costs as many additions.
import { Shortage, sizeAt, type WindowReader } from '../../bytes/index.js'
import { type Code, neededSize } from '../../errors/index.js'
import type { ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import { type Encoding, maxDims } from './structs.js'
import { arrayType, stringType, valueTypes } from './value-types.js'

/** No model has more entries or tensors. */
const maxLikelyCount = 1_000_000n

/** One metadata entry; all positions are offsets in the file. */
export interface Entry {
  readonly start: number
  readonly keyLength: number
  readonly type: number
  readonly value: number
  readonly end: number
}

export interface Index {
  readonly entries: readonly Entry[]
  /** Where the entries of the tensors begin. */
  readonly tensors: readonly number[]
  readonly end: number
}

export class IndexParser {
  readonly #window: WindowReader
  readonly #encoding: Encoding
  readonly #context: ReadContext
  readonly #size: number
  /** The record that is being parsed, for findings. */
  #scope: 'metadata' | 'tensors' = 'metadata'
  #number = 0

  constructor(window: WindowReader, encoding: Encoding, context: ReadContext) {
    this.#window = window
    this.#encoding = encoding
    this.#context = context
    this.#size = window.source.size
  }

  async parse(start: number, entryCount: bigint, tensorCount: bigint): Promise<Index> {
    const { lengthSize } = this.#encoding
    const entryTotal = this.#checkCount(entryCount, lengthSize + 5, start, 'metadata_kv_count')
    const tensorTotal = this.#checkCount(tensorCount, lengthSize + 16, start, 'tensor_count')
    const entries: Entry[] = []
    const tensors: number[] = []
    let at = start
    await this.#window.whole(() => {
      while (entries.length < entryTotal) {
        const entry = this.#entry(at, entries.length)
        entries.push(entry)
        at = entry.end
      }
    })
    const first = at
    await this.#window.whole(() => {
      while (tensors.length < tensorTotal) {
        const end = this.#tensor(at, tensors.length, likelyEnd(first, at, tensors.length, tensorTotal))
        tensors.push(at)
        at = end
      }
    })
    await this.#window.whole(() => this.#claim(at, 0, ''))
    return { entries, tensors, end: at }
  }

  /** `min` is the shortest that an entry can be. */
  #checkCount(count: bigint, min: number, start: number, path: string): number {
    if (count * BigInt(min) <= BigInt(this.#size - start)) return Number(count)
    const message = `${count} are announced, but ${this.#size - start} bytes are left, and each takes at least ${min}`
    // A count that a model may have is that of a file which was cut; any other is wrong.
    const needs = count <= maxLikelyCount ? neededSize(start + Number(count) * min) : {}
    return this.#context.report.fail(codes.count, { offset: start, path, message, ...needs })
  }

  #entry(start: number, i: number): Entry {
    this.#scope = 'metadata'
    this.#number = i
    const keyLength = this.#length(start, 'key_length', codes['string-length'])
    const typeAt = start + this.#encoding.lengthSize + keyLength
    const type = this.#u32(typeAt, 'value_type')
    const value = typeAt + 4
    return { start, keyLength, type, value, end: this.#value(type, value, typeAt, 0, 'value') }
  }

  /** The end of the value that begins at `at`. */
  #value(number: number, at: number, typeAt: number, depth: number, field: string): number {
    const type = valueTypes[number]
    if (!type) return this.#fail(codes['value-type'], typeAt, field, `${number} is not a value type`)
    if (type.size > 0) return this.#claim(at, type.size, field)
    const { lengthSize } = this.#encoding
    if (type === stringType) return at + lengthSize + this.#length(at, field, codes['string-length'])
    if (depth >= this.#context.limits.depth) {
      return this.#fail(codes.depth, at, field, `arrays are nested more than ${depth} deep`)
    }
    const itemNumber = this.#u32(at, field)
    const itemType = valueTypes[itemNumber]
    if (!itemType) return this.#fail(codes['value-type'], at, field, `${itemNumber} is not a value type`)
    const first = at + 4 + lengthSize
    const min = itemType.size || (itemType === arrayType ? lengthSize + 4 : lengthSize)
    const count = this.#length(at + 4, field, codes['array-length'], min)
    if (itemType.size > 0) return first + count * itemType.size
    if (itemType === stringType) return this.#strings(first, count, field)
    let end = first
    for (let i = 0; i < count; i++) end = this.#value(itemNumber, end, at, depth + 1, `${field}[${i}]`)
    return end
  }

  #strings(first: number, count: number, field: string): number {
    const { view } = this.#window
    const { littleEndian, lengthSize } = this.#encoding
    const here = view.byteLength - lengthSize
    const last = this.#size - lengthSize
    const low = littleEndian ? 0 : lengthSize - 4
    const high = lengthSize === 4 ? -1 : 4 - low
    let at = first
    for (let i = 0; i < count; i++) {
      if (at > here) this.#claim(at, lengthSize, field, likelyEnd(first, at, i, count))
      const length = view.getUint32(at + low, littleEndian)
      if (length > last - at || (high >= 0 && view.getUint32(at + high, littleEndian) !== 0))
        this.#length(at, `${field}[${i}]`, codes['string-length'])
      at += lengthSize + length
    }
    return at
  }

  /** The end of a tensor's entry. */
  #tensor(start: number, i: number, likely: number): number {
    this.#scope = 'tensors'
    this.#number = i
    const { lengthSize } = this.#encoding
    const rankAt = start + lengthSize + this.#length(start, 'name_length', codes['string-length'], 1, likely)
    const rank = this.#u32(rankAt, 'n_dimensions', likely)
    if (rank > maxDims && rank * lengthSize > this.#size - rankAt) {
      this.#fail(codes['dims-count'], rankAt, 'n_dimensions', `${rank} dimensions, at most ${maxDims} are possible`)
    }
    return this.#claim(rankAt + 4, rank * lengthSize + 12, 'dimensions', likely)
  }

  /** A length in items of at least `unit` bytes, which must fit into the rest of the file. */
  #length(at: number, field: string, code: Code, unit = 1, likely?: number): number {
    const { lengthSize } = this.#encoding
    const start = this.#claim(at, lengthSize, field, likely)
    const length = numberAt(this.#window.view, at, this.#encoding)
    if (typeof length === 'number' && length * unit <= this.#size - start) return length
    const items = unit === 1 ? `${length} bytes are` : `${length} items of at least ${unit} bytes are`
    return this.#fail(code, at, field, `${items} announced, but ${this.#size - start} bytes are left`)
  }

  #u32(at: number, field: string, likely?: number): number {
    this.#claim(at, 4, field, likely)
    return this.#window.view.getUint32(at, this.#encoding.littleEndian)
  }

  /** The end of `length` bytes that must be in the file, and at hand. `likely` is where the bytes probably end that are needed next. */
  #claim(at: number, length: number, field: string, likely = 0): number {
    const end = at + length
    if (end > this.#size) {
      const message = `${length} bytes are needed here, but only ${Math.max(0, this.#size - at)} are left`
      this.#fail(codes.truncated, Math.min(at, this.#size), field, message, neededSize(end))
    }
    const reached = this.#window.bytes.byteLength
    if (end <= reached) return end
    const { report, limits } = this.#context
    if (end > limits.indexBytes) {
      const message = `the index takes more than ${limits.indexBytes} bytes`
      report.fail(codes['index-size'], { offset: reached, path: 'header', message })
    }
    throw new Shortage(at, Math.max(end, Math.min(likely, this.#window.end)) - at)
  }

  #fail(code: Code, offset: number, field: string, message: string, needs: { readonly needs?: number } = {}): never {
    const path = `${this.#scope}[${this.#number}].${field}`
    return this.#context.report.fail(code, { offset, path, message, ...needs })
  }
}

/** A length, a count or a dimension; a bigint beyond 2^53-1. */
export const numberAt = (view: DataView, at: number, { lengthSize, littleEndian }: Encoding): number | bigint =>
  lengthSize === 4
    ? view.getUint32(at, littleEndian)
    : (sizeAt(view, at, littleEndian) ?? view.getBigUint64(at, littleEndian))

/** Where `count` records that begin at `first` will end, judging by those before `at`. Later ones tend to be longer. */
const likelyEnd = (first: number, at: number, done: number, count: number): number =>
  Math.ceil(at + 1.25 * ((at - first) / Math.max(done, 1)) * (count - done))
