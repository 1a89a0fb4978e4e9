// Entries of the tensor index as every known writer makes them: the fields in one order, numbers and names in their shortest forms. A file
// can have a million of them, so they are taken straight from the bytes, a block at a time, and the names of a block are decoded
// together. Whatever looks different is left to the parser that knows all of MessagePack and can say what is wrong: it goes on at the
// first field that was not taken.
import { decodeUtf8 } from '../../../bytes/index.js'
import { hashOfName, nextHash } from '../../../bytes/name-set.js'
import { digestSize, digestWords } from '../structs.js'
import type { IndexEntry } from './index-entry.js'
import { encodeTagged } from './tagged.js'

/** The fields in the order of the writers. */
export const fields = ['name', 'dtype', 'shape', 'shard_id', 'data_off', 'data_len', 'flags', 'hash_b3'] as const

/** Keys with the type byte of a short string in front, in words of four bytes and what is left. */
interface Key {
  readonly length: number
  readonly words: readonly number[]
  readonly rest: readonly number[]
}

const [nameKey, dtypeKey, shapeKey, shardKey, offsetKey, lengthKey, flagsKey, hashKey] = fields.map((field): Key => {
  const bytes = encodeTagged(field)
  const view = viewOf(bytes)
  const whole = Math.floor(bytes.byteLength / 4)
  const words = Array.from({ length: whole }, (_, i) => view.getUint32(4 * i))
  return { length: bytes.byteLength, words, rest: [...bytes.subarray(4 * whole)] }
}) as [Key, Key, Key, Key, Key, Key, Key, Key]

/** By character code; 255 for what is no hexadecimal digit. */
export const hexValues = Uint8Array.from({ length: 256 }, (_, code) => {
  const value = '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase())
  return value < 0 ? 255 : value
})

let byteValues: Uint16Array | undefined

/** The byte that two digits stand for, by their character codes; larger than a byte for what is no digit. Made when it is needed. */
function digitPairs(): Uint16Array {
  if (byteValues) return byteValues
  const values = new Uint16Array(65_536).fill(256)
  const digits = [...hexValues.keys()].filter((code) => hexValues[code]! < 16)
  for (const high of digits)
    for (const low of digits) values[256 * high + low] = 16 * hexValues[high]! + hexValues[low]!
  byteValues = values
  return values
}

/** More than the fields of an entry take beside its name: closer to the end than that, the other parser does the work. */
const maxBeside = 512
const maxDims = 15
const cachedShapes = 1024
const blockEntries = 256
const blockText = 65_536

/** What is known of the entries of a block, by their number in it. */
class Block {
  count = 0
  next = 0
  /** Where the first field begins, how many fields were taken, and where the next one begins. */
  readonly starts = new Float64Array(blockEntries)
  readonly taken = new Uint8Array(blockEntries)
  readonly ends = new Float64Array(blockEntries)
  readonly nameHashes = new Int32Array(blockEntries)
  readonly dtypes = new Float64Array(blockEntries)
  readonly shapes: number[][] = Array.from({ length: blockEntries }, () => [])
  readonly shardIds = new Float64Array(blockEntries)
  readonly offsets = new Float64Array(blockEntries)
  readonly lengths = new Float64Array(blockEntries)
  readonly hashes = new Uint8Array(blockEntries * digestSize)
  readonly hashWords = new Uint32Array(this.hashes.buffer)
  /** The names one after another, and where each ends. */
  readonly text = new Uint8Array(blockText)
  readonly textView = new DataView(this.text.buffer)
  readonly textEnds = new Uint32Array(blockEntries)
  isAscii = false
  names: readonly (string | undefined)[] = []
}

export class UsualEntries {
  #bytes: Uint8Array
  #view: DataView
  readonly #block = new Block()
  readonly #dims: number[] = Array.from({ length: maxDims }, () => 0)
  /** Tensors of equal shape share the list: a model has few shapes, however many tensors it has. */
  readonly #shapes: (number[] | undefined)[] = Array.from({ length: cachedShapes }, () => undefined)
  /** Behind the last field that was taken. */
  position = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
  }

  /** Positions count from the beginning of these bytes from now on. */
  moveTo(bytes: Uint8Array): void {
    this.#bytes = bytes
    this.#view = viewOf(bytes)
    this.#block.count = 0
  }

  /** Takes fields of the entry whose `pairs` fields begin at `position`, and says how many. */
  take(position: number, pairs: number, entry: IndexEntry): number {
    const block = this.#block
    if (block.next >= block.count || block.starts[block.next] !== position) this.#fill(position, pairs)
    this.position = position
    const k = block.next
    if (k >= block.count) return 0
    block.next = k + 1
    const name = block.names[k]
    if (name === undefined) return 0
    entry.name = name
    entry.nameHash = block.nameHashes[k]!
    entry.nameBytes = block.isAscii ? block.text : undefined
    entry.nameStart = k === 0 ? 0 : block.textEnds[k - 1]!
    entry.nameEnd = block.textEnds[k]!
    entry.dtype = block.dtypes[k]!
    entry.shape = block.shapes[k]!
    entry.shardId = block.shardIds[k]!
    entry.dataOff = block.offsets[k]!
    entry.dataLen = block.lengths[k]!
    const taken = block.taken[k]!
    if (taken === fields.length) {
      entry.hashForm = 'proper'
      for (let i = 0; i < digestWords; i++) entry.hashWords[i] = block.hashWords[k * digestWords + i]!
    }
    this.position = block.ends[k]!
    return taken
  }

  /** Takes entries until one is unusual, the block is full or the bytes end. */
  #fill(position: number, pairs: number): void {
    const bytes = this.#bytes
    const block = this.#block
    block.next = 0
    this.position = position
    let k = 0
    for (let count = pairs; k < blockEntries && count >= fields.length - 1; count = bytes[this.position++]! - 0x80) {
      block.starts[k] = this.position
      if (!this.#takeName(k)) break
      const taken = this.#takeNumbers(k)
      const isWhole = taken === fields.length - 1 && count === fields.length && this.#takeHash(k)
      block.taken[k] = isWhole ? fields.length : taken
      block.ends[k] = this.position
      k++
      if (block.taken[k - 1] !== count || count > fields.length) break
    }
    block.count = k
    block.names = this.#namesOf(k)
  }

  #namesOf(count: number): (string | undefined)[] {
    const { text, textEnds, nameHashes } = this.#block
    const length = count === 0 ? 0 : textEnds[count - 1]!
    const joined = decodeUtf8(text.subarray(0, length))
    this.#block.isAscii = joined?.length === length
    const names: (string | undefined)[] = []
    for (let k = 0, start = 0; k < count; k++) {
      const end = textEnds[k]!
      if (joined?.length === length) names.push(joined.slice(start, end))
      else {
        const name = decodeUtf8(text.subarray(start, end))
        if (name !== undefined) nameHashes[k] = hashOfName(name)
        names.push(name)
      }
      start = end
    }
    return names
  }

  /** Far enough from the end, so that words can be looked at. */
  #isNext({ words, rest }: Key): boolean {
    let at = this.position
    for (let i = 0; i < words.length; i++, at += 4) if (this.#view.getUint32(at) !== words[i]) return false
    for (let i = 0; i < rest.length; i++) if (this.#bytes[at + i] !== rest[i]) return false
    return true
  }

  #takeName(k: number): boolean {
    const bytes = this.#bytes
    const { text, textView, textEnds, nameHashes } = this.#block
    if (this.position + maxBeside > bytes.length || !this.#isNext(nameKey)) return false
    let at = this.position + nameKey.length
    const form = bytes[at++]!
    let length = form - 0xa0
    if (form === 0xd9) length = bytes[at++]!
    else if (length < 0 || length > 31) return false
    const start = k === 0 ? 0 : textEnds[k - 1]!
    if (at + length + maxBeside > bytes.length || start + length + 4 > text.length) return false
    let hash = length
    for (let i = 0; i < length; i += 4) {
      const word = this.#view.getUint32(at + i)
      textView.setUint32(start + i, word)
      // What is behind the end of the name does not count.
      hash = nextHash(hash, length - i < 4 ? word >>> (8 * (4 - length + i)) : word)
    }
    nameHashes[k] = hash
    textEnds[k] = start + length
    this.position = at + length
    return true
  }

  /** The fields between name and hash; how many are taken then, the name included. */
  #takeNumbers(k: number): number {
    const block = this.#block
    const dtype = this.#takeInt(dtypeKey)
    if (dtype < 0) return 1
    block.dtypes[k] = dtype
    const shape = this.#takeShape()
    if (!shape) return 2
    block.shapes[k] = shape
    const shard = this.#takeInt(shardKey)
    if (shard < 0) return 3
    block.shardIds[k] = shard
    const offset = this.#takeInt(offsetKey)
    if (offset < 0) return 4
    block.offsets[k] = offset
    const length = this.#takeInt(lengthKey)
    if (length < 0) return 5
    block.lengths[k] = length
    // Flags that are not zero are kept by the other parser.
    if (!this.#isNext(flagsKey) || this.#bytes[this.position + flagsKey.length] !== 0) return 6
    this.position += flagsKey.length + 1
    return 7
  }

  /** A whole number from 0 to 2^53-1 behind its key; -1 for anything else, which is not taken. */
  #takeInt(key: Key): number {
    if (!this.#isNext(key)) return -1
    const at = this.position + key.length
    const value = intAt(this.#bytes, at)
    if (value >= 0) this.position = at + sizeOfInt(this.#bytes[at]!)
    return value
  }

  #takeShape(): number[] | undefined {
    const bytes = this.#bytes
    if (!this.#isNext(shapeKey)) return undefined
    let at = this.position + shapeKey.length
    const rank = bytes[at++]! - 0x90
    if (rank < 0 || rank > maxDims) return undefined
    const dims = this.#dims
    let slot = rank
    for (let i = 0; i < rank; i++) {
      const dim = intAt(bytes, at)
      if (dim < 0) return undefined
      at += sizeOfInt(bytes[at]!)
      dims[i] = dim
      slot = (slot * 31 + dim) % cachedShapes
    }
    this.position = at
    const known = this.#shapes[slot]
    if (known && isSame(known, dims, rank)) return known
    const shape = dims.slice(0, rank)
    this.#shapes[slot] = shape
    return shape
  }

  /** 64 hexadecimal digits in either case. */
  #takeHash(k: number): boolean {
    const bytes = this.#bytes
    const { hashes } = this.#block
    const at = this.position + hashKey.length
    if (!this.#isNext(hashKey) || bytes[at] !== 0xd9 || bytes[at + 1] !== 2 * digestSize) return false
    const first = at + 2
    const pairs = digitPairs()
    for (let i = 0; i < digestSize; i++) {
      const value = pairs[this.#view.getUint16(first + 2 * i)]!
      if (value > 255) return false
      hashes[k * digestSize + i] = value
    }
    this.position = first + 2 * digestSize
    return true
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function intAt(bytes: Uint8Array, at: number): number {
  const form = bytes[at]!
  if (form < 0x80) return form
  if (form < 0xcc || form > 0xcf) return -1
  const end = at + sizeOfInt(form)
  let value = 0
  for (let i = at + 1; i < end; i++) value = value * 256 + bytes[i]!
  return value > Number.MAX_SAFE_INTEGER ? -1 : value
}

function sizeOfInt(form: number): number {
  if (form < 0x80) return 1
  if (form === 0xcc) return 2
  if (form === 0xcd) return 3
  return form === 0xce ? 5 : 9
}

function isSame(shape: readonly number[], dims: readonly number[], rank: number): boolean {
  if (shape.length !== rank) return false
  for (let i = 0; i < rank; i++) if (shape[i] !== dims[i]) return false
  return true
}
