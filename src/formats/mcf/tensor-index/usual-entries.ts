// Entries of the index as writers make them, taken straight from the bytes: there can be a million. Whatever has something unusual about it
// is left to the code that can say what is wrong.
import { countElements } from '../../../bytes/index.js'
import { asciiText } from '../../../bytes/unit-text.js'
import type { DType } from '../../../dtypes/index.js'
import { methodOf } from '../../../dtypes/mcf/types.js'
import { dtypeOfCode } from '../dtypes.js'
import type { Section } from '../sections.js'
import { blockAlignment } from '../write/place.js'
import type { IndexTables } from './index-tables.js'

const longestName = 256
const maxDims = 8
/** What is above 2^53 has more in its upper half. */
const upperLimit = 2 ** 21

/** Lives only while it is being looked at: the next one takes its place. */
export interface UsualEntry {
  index: number
  dtypeCode: number
  nameOff: number
  nameLen: number
  name: string
  dtype: DType
  shape: readonly number[]
  offset: number
  length: number
}

export class UsualEntries {
  readonly #tables: IndexTables
  readonly #start: number
  readonly #end: number
  readonly #types = new Map<number, DType>()
  /** Neighbours are often alike, and then share their shape. */
  #last: { dtype: DType; shape: readonly number[]; length: number } | undefined

  /** `data` is where tensors may lie. */
  constructor(tables: IndexTables, { offset, size }: Section, fileSize: number) {
    this.#tables = tables
    this.#start = offset
    this.#end = Math.min(offset + size, fileSize)
  }

  /** The entry that the cursor stands at, or undefined when it is unusual. */
  take(index: number): UsualEntry | undefined {
    const { entries, head, places } = this.#tables
    const { view, position: at } = entries
    const nameOff = view.getUint32(at, true)
    const nameLen = view.getUint32(at + 4, true)
    const dtypeCode = view.getUint32(at + 8, true)
    const rank = view.getUint32(at + 12, true)
    const dimOff = view.getUint32(at + 16, true)
    if (view.getUint32(at + 20, true) !== 0) return undefined
    if (nameLen === 0 || nameLen > longestName || nameOff + nameLen > places.stringsSize) return undefined
    if (rank > maxDims || dimOff + rank > head.dimsCount) return undefined
    const dtype = this.#typeOf(dtypeCode)
    const shape = this.#shape(dimOff, rank)
    const offset = numberAt(view, at + 24)
    const length = numberAt(view, at + 32)
    if (!dtype || !shape || length < 0 || length !== this.#lengthOf(dtype, shape)) return undefined
    if (offset < this.#start || offset + length > this.#end) return undefined
    if (dtype.regions && offset % blockAlignment !== 0) return undefined
    const name = this.#name(nameOff, nameLen)
    if (name === undefined) return undefined
    return { index, dtypeCode, nameOff, nameLen, name, dtype, shape, offset, length }
  }

  #typeOf(code: number): DType | undefined {
    const known = this.#types.get(code)
    if (known) return known
    const dtype = dtypeOfCode(code)
    // Those have more than one size.
    if (!dtype || methodOf(dtype.id)?.family === 'int') return undefined
    this.#types.set(code, dtype)
    return dtype
  }

  #shape(first: number, rank: number): readonly number[] | undefined {
    const { view } = this.#tables.dims
    const known = this.#last?.shape
    let isSame = known?.length === rank
    for (let i = 0; i < rank && isSame; i++) isSame = numberAt(view, 8 * (first + i)) === known![i]
    if (isSame) return known
    const shape = Array.from({ length: rank }, (_, i) => numberAt(view, 8 * (first + i)))
    return shape.every((dim) => dim > 0) ? shape : undefined
  }

  #lengthOf(dtype: DType, shape: readonly number[]): number | undefined {
    if (this.#last?.shape === shape && this.#last.dtype === dtype) return this.#last.length
    const length = countElements(shape) === undefined ? undefined : dtype.byteLength(shape)
    if (length !== undefined) this.#last = { dtype, shape, length }
    return length
  }

  /** Of ASCII characters. */
  #name(start: number, length: number): string | undefined {
    const { bytes } = this.#tables.names
    return asciiText(bytes, start, start + length)
  }
}

/** A u64; negative when it is beyond 2^53-1. */
function numberAt(view: DataView, at: number): number {
  const upper = view.getUint32(at + 4, true)
  return upper < upperLimit ? upper * 2 ** 32 + view.getUint32(at, true) : -1
}
