// Random numbers that a seed decides, so that every run can be repeated.

export class Random {
  #state

  constructor(seed) {
    this.#state = seed >>> 0 || 1
  }

  /** A whole number from 0 to below `count`. */
  below(count) {
    let x = this.#state
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.#state = x >>> 0
    return this.#state % count
  }

  pick(list) {
    return list[this.below(list.length)]
  }

  /** True once in `count` times. */
  once(count) {
    return this.below(count) === 0
  }
}
