// What the names of an index must be among each other: unique, and ascending by their bytes where the index says so.
import { type Cursor, type StructValues, toHex } from '../../../bytes/index.js'
import { compareNames, type Name } from '../../../bytes/name-order.js'
import type { Code } from '../../../errors/index.js'
import type { ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'
import { reportToVerifier } from '../report.js'
import { indexEntry, type indexHeader } from '../structs.js'

/** An entry of the index, as far as its name goes. */
export interface NamedEntry {
  readonly index: number
  /** File offset of the entry. */
  readonly at: number
  /** For showing only where `rawName` is there. */
  readonly name: string
  /** The bytes of a name that is not UTF-8. */
  readonly rawName: Uint8Array | undefined
}

/**
 * Whether each name is above the one before by its bytes, as writers leave them: then they are sorted, and no two are the same. Says no
 * where the names are more than `maxBytes` long together: entries may share bytes, and comparing them all could take for ever.
 */
export function doNamesAscend(
  { view }: Cursor,
  { tensorCount, entriesOff }: StructValues<typeof indexHeader>,
  names: Uint8Array,
  maxBytes: number,
): boolean {
  let bytesLeft = maxBytes
  let previous = 0
  let previousLength = -1
  for (let i = 0; i < tensorCount; i++) {
    const at = Number(entriesOff) + i * indexEntry.size
    const start = indexEntry.get.nameOff(view, at)
    const length = indexEntry.get.nameLen(view, at)
    bytesLeft -= length
    if (start + length > names.byteLength || bytesLeft < 0) return false
    let same = 0
    const max = Math.min(length, previousLength)
    while (same < max && names[previous + same] === names[start + same]) same++
    const isAbove = same < max ? names[previous + same]! < names[start + same]! : previousLength < length
    if (!isAbove) return false
    previous = start
    previousLength = length
  }
  return true
}

/** Names must be unique, and ascend by their bytes where the index says so. */
export class NameChecks {
  readonly #context: ReadContext
  readonly #firsts = new Map<string, number>()
  #claimsSorted: boolean
  #previous: Name | undefined

  constructor(claimsSorted: boolean, context: ReadContext) {
    this.#claimsSorted = claimsSorted
    this.#context = context
  }

  check({ index, name, rawName, at }: NamedEntry): void {
    const key = rawName ? `\0${toHex(rawName)}` : name
    const first = this.#firsts.get(key)
    if (first !== undefined) {
      const message = `${JSON.stringify(name)} is also the name of entry ${first}`
      this.#report(codes['duplicate-name'], index, at, message)
    } else this.#firsts.set(key, index)
    const previous = this.#previous
    this.#previous = rawName ?? name
    if (!this.#claimsSorted || previous === undefined || compareNames(previous, this.#previous) <= 0) return
    this.#claimsSorted = false // one finding is enough
    const message = `the flags say that names ascend, but ${JSON.stringify(name)} comes too late`
    this.#report(codes['lookup-by-name-fails'], index, at, message)
  }

  #report(code: Code, index: number, offset: number, message: string): void {
    reportToVerifier(this.#context, code, { offset, path: `tensor_index.entries[${index}]`, message })
  }
}
