type Numbers = Float64Array | Int32Array | Uint32Array

/** Numbers that become more, as few bytes each as their type takes. */
export class NumberList<T extends Numbers> {
  readonly #Type: new (
    length: number,
  ) => T
  #values: T
  #length = 0

  constructor(Type: new (length: number) => T) {
    this.#Type = Type
    this.#values = new Type(16)
  }

  get length(): number {
    return this.#length
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const values = new this.#Type(2 * this.#length)
      values.set(this.#values)
      this.#values = values
    }
    this.#values[this.#length++] = value
  }

  /** `index` is one of the list. */
  at(index: number): number {
    return this.#values[index]!
  }

  set(index: number, value: number): void {
    this.#values[index] = value
  }
}
