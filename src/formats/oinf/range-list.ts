// Ranges of the file and what they are, as plain lists of numbers: a file can have a million of them.
import type { Range } from './records.js'

export interface KindOfRange<K extends string> extends Range {
  readonly kind: K
  /** Position of the record in its table, for those that belong to one. */
  readonly index: number
}

export class RangeList<K extends string> {
  readonly #kinds: readonly K[]
  #offsets = new Float64Array(16)
  #lengths = new Float64Array(16)
  #indexes = new Uint32Array(16)
  #kindNumbers = new Uint8Array(16)
  #length = 0

  constructor(kinds: readonly K[]) {
    this.#kinds = kinds
  }

  get length(): number {
    return this.#length
  }

  push(kind: K, { offset, length }: Range, index = 0): void {
    if (this.#length === this.#offsets.length) this.#grow()
    const i = this.#length++
    this.#offsets[i] = offset
    this.#lengths[i] = length
    this.#indexes[i] = index
    this.#kindNumbers[i] = this.#kinds.indexOf(kind)
  }

  at(i: number): KindOfRange<K> {
    return {
      kind: this.#kinds[this.#kindNumbers[i]!]!,
      offset: this.#offsets[i]!,
      length: this.#lengths[i]!,
      index: this.#indexes[i]!,
    }
  }

  *[Symbol.iterator](): Generator<KindOfRange<K>, void, void> {
    for (let i = 0; i < this.#length; i++) yield this.at(i)
  }

  /** By offset, of those the shorter ones first. Writers put values in the order of the tables, so there is usually nothing to sort. */
  *inOffsetOrder(): Generator<KindOfRange<K>, void, void> {
    const offsets = this.#offsets
    const lengths = this.#lengths
    let ascending = 1
    while (ascending < this.#length && offsets[ascending - 1]! < offsets[ascending]!) ascending++
    if (ascending >= this.#length) yield* this
    else {
      const order = Uint32Array.from({ length: this.#length }, (_, i) => i)
      order.sort((a, b) => offsets[a]! - offsets[b]! || lengths[a]! - lengths[b]! || a - b)
      for (const i of order) yield this.at(i)
    }
  }

  #grow(): void {
    const [offsets, lengths, indexes, kinds] = [this.#offsets, this.#lengths, this.#indexes, this.#kindNumbers]
    const room = 2 * offsets.length
    this.#offsets = new Float64Array(room)
    this.#offsets.set(offsets)
    this.#lengths = new Float64Array(room)
    this.#lengths.set(lengths)
    this.#indexes = new Uint32Array(room)
    this.#indexes.set(indexes)
    this.#kindNumbers = new Uint8Array(room)
    this.#kindNumbers.set(kinds)
  }
}
