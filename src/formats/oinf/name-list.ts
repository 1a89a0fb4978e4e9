// Finds repeated names. Writers sort their tables, and as long as names ascend a comparison with the last one is enough.
import { NameSet } from '../../bytes/name-set.js'

/** The names of a table as far as it was read, without those of records that were left out. */
export interface Names {
  readonly length: number
  nameAt(index: number): string
}

export class NameList {
  readonly #names: Names
  /** Of records that were left out. */
  readonly #others: string[] = []
  #last: string | undefined
  #isLastNew = false
  #all: NameSet | undefined

  constructor(names: Names) {
    this.#names = names
  }

  /** Whether the name was there before; it is there from now on, and comes next in its table unless it is left out. */
  isRepeated(name: string): boolean {
    if (!this.#all && (this.#last === undefined || this.#last < name)) this.#isLastNew = true
    else {
      this.#all ??= this.#collect()
      this.#isLastNew = this.#all.add(name, this.#names.length) === undefined
    }
    this.#last = name
    return !this.#isLastNew
  }

  /** The name that was asked about last does not get into the table. */
  leaveOut(name: string): void {
    if (!this.#isLastNew) return
    if (this.#all) this.#all.keepLast(name)
    else this.#others.push(name)
  }

  #collect(): NameSet {
    const names = this.#names
    const all = new NameSet((i) => names.nameAt(i), names.length)
    for (let i = 0; i < names.length; i++) all.add(names.nameAt(i), i)
    for (const name of this.#others.splice(0)) {
      all.add(name, names.length)
      all.keepLast(name)
    }
    return all
  }
}

/** How many different names there are. */
export function countDistinct(names: Names): number {
  const seen = new NameSet((i) => names.nameAt(i), names.length)
  let count = 0
  for (let i = 0; i < names.length; i++) if (seen.add(names.nameAt(i), i) === undefined) count++
  return count
}
