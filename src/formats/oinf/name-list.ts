// Finds repeated names. Writers sort their tables, and as long as names ascend a comparison with the last one is enough.
export class NameList {
  readonly #ascending: string[] = []
  #all: Set<string> | undefined

  /** Whether the name was there before; it is there from now on. */
  isRepeated(name: string): boolean {
    if (!this.#all) {
      const last = this.#ascending.at(-1)
      if (last === undefined || last < name) {
        this.#ascending.push(name)
        return false
      }
      this.#all = new Set(this.#ascending)
    }
    const isKnown = this.#all.has(name)
    this.#all.add(name)
    return isKnown
  }
}
