import { NumberList } from '../../bytes/number-list.js'

/** Ranges of a file; behind each of a million tensors there may be one. */
export class Stretches {
  readonly #offsets = new NumberList(Float64Array)
  readonly #lengths = new NumberList(Float64Array)

  push(offset: number, length: number): void {
    this.#offsets.push(offset)
    this.#lengths.push(length)
  }

  *[Symbol.iterator](): Generator<{ readonly offset: number; readonly length: number }, void, void> {
    for (let i = 0; i < this.#offsets.length; i++) yield { offset: this.#offsets.at(i), length: this.#lengths.at(i) }
  }
}
