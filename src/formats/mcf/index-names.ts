// What the names of an index must be among each other: unique, and ascending by their bytes when the index says so.
import { compareBytes, toHex } from '../../bytes/index.js'
import type { ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import type { Entry } from './entry.js'
import { reportToVerifier } from './report.js'

/** Reports two entries with one name, and a sort flag that is not true. */
export class NameCheck {
  readonly #context: ReadContext
  readonly #seen = new Map<string, number>()
  #previous: Uint8Array | undefined
  #claimsSorted: boolean

  constructor(claimsSorted: boolean, context: ReadContext) {
    this.#claimsSorted = claimsSorted
    this.#context = context
  }

  add({ index, name, nameBytes, isUtf8, at }: Entry): void {
    const key = isUtf8 ? name : `\u0000${toHex(nameBytes)}`
    const first = this.#seen.get(key)
    const path = `tensor_index.entries[${index}]`
    if (first === undefined) this.#seen.set(key, index)
    else {
      const message = `${JSON.stringify(name)} is also the name of entry ${first}`
      reportToVerifier(this.#context, codes['duplicate-name'], { offset: at, path, message })
    }
    if (!this.#claimsSorted) return
    if (this.#previous && compareBytes(this.#previous, nameBytes) > 0) {
      this.#claimsSorted = false // said once
      const message = `the flags say that names ascend, but ${JSON.stringify(name)} comes too late`
      reportToVerifier(this.#context, codes['lookup-by-name-fails'], { offset: at, path, message })
    }
    this.#previous = nameBytes
  }
}
