// What the names of an index must be among each other: unique, and ascending by their bytes when the index says so. As long as they ascend,
// a comparison with the one before is enough.
import { decodeLossy, decodeUtf8, toHex } from '../../../bytes/index.js'
import { NameSet } from '../../../bytes/name-set.js'
import type { ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'
import { reportToVerifier } from '../report.js'

const noLength = 2 ** 32 - 1

export class IndexNames {
  readonly #bytes: Uint8Array
  /** By the entry; one that could not be read has a length that none can have. */
  readonly #starts: Uint32Array
  readonly #lengths: Uint32Array
  readonly #context: ReadContext
  #claimsSorted: boolean
  #previous = -1
  #seen: NameSet | undefined

  /** `bytes` are the names of `count` entries. */
  constructor(bytes: Uint8Array, count: number, claimsSorted: boolean, context: ReadContext) {
    this.#bytes = bytes
    this.#starts = new Uint32Array(count)
    this.#lengths = new Uint32Array(count).fill(noLength)
    this.#claimsSorted = claimsSorted
    this.#context = context
  }

  /** As it is shown. */
  nameOf(index: number): string {
    return decodeLossy(this.#bytesOf(index))
  }

  /** Reports two entries with one name, and a sort flag that is not true. `at` is the file offset of the entry. */
  add(index: number, start: number, length: number, at: number): void {
    this.#starts[index] = start
    this.#lengths[index] = length
    const order = this.#previous < 0 ? -1 : this.#compare(this.#previous, index)
    this.#previous = index
    if (order >= 0) this.#seen ??= this.#collect(index)
    const path = `tensor_index.entries[${index}]`
    const first = this.#seen?.add(this.#keyOf(index), index)
    if (first !== undefined) {
      const message = `${JSON.stringify(this.nameOf(index))} is also the name of entry ${first}`
      reportToVerifier(this.#context, codes['duplicate-name'], { offset: at, path, message })
    }
    if (!this.#claimsSorted || order <= 0) return
    this.#claimsSorted = false // said once
    const message = `the flags say that names ascend, but ${JSON.stringify(this.nameOf(index))} comes too late`
    reportToVerifier(this.#context, codes['lookup-by-name-fails'], { offset: at, path, message })
  }

  #bytesOf(index: number): Uint8Array {
    const start = this.#starts[index]!
    return this.#bytes.subarray(start, start + this.#lengths[index]!)
  }

  #keyOf(index: number): string {
    const bytes = this.#bytesOf(index)
    return decodeUtf8(bytes) ?? `\u0000${toHex(bytes)}`
  }

  #compare(a: number, b: number): number {
    const bytes = this.#bytes
    let x = this.#starts[a]!
    let y = this.#starts[b]!
    const xEnd = x + this.#lengths[a]!
    const yEnd = y + this.#lengths[b]!
    for (; x < xEnd && y < yEnd; x++, y++) if (bytes[x] !== bytes[y]) return bytes[x]! - bytes[y]!
    return xEnd - x - (yEnd - y)
  }

  /** The names before an entry. */
  #collect(before: number): NameSet {
    const seen = new NameSet((index) => this.#keyOf(index))
    for (let i = 0; i < before; i++) if (this.#lengths[i] !== noLength) seen.add(this.#keyOf(i), i)
    return seen
  }
}
