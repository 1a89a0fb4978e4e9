// How many bytes the tensors of a file may promise. A view can repeat elements (a stride of zero, overlapping rows), and any number of
// views can share one storage, so a file of a few hundred bytes can describe terabytes. Honest files need as much as their storages have,
// and a little more where weights are shared or expanded.
import type { ReadContext } from '../../../model/index.js'
import type { Storage } from './storages.js'

/** Always allowed: it takes no longer than a file of this size. */
const smallModel = 1 << 26
/** With `lenient` the limit is higher by this factor. */
const lenience = 64

/** Within the default limit, or only because `lenient` raises it, or beyond it. */
export type Allowance = 'default' | 'lenient' | 'none'

export class ViewBudget {
  readonly #factor: number
  readonly #isLenient: boolean
  readonly #stored: number
  #promised = 0

  /** `stored` is how many bytes all storages have. */
  constructor(stored: number, { limits, lenient }: ReadContext) {
    this.#factor = limits.expansion
    this.#isLenient = lenient
    this.#stored = stored
  }

  /** Takes this number of bytes for a view of a storage. What is refused takes nothing. */
  take(bytes: number, storage: Storage): Allowance {
    const promised = this.#promised + bytes
    const fits = (factor: number): boolean =>
      bytes <= Math.max(smallModel, factor * storage.byteLength) &&
      promised <= Math.max(smallModel, factor * this.#stored)
    const allowance = fits(this.#factor)
      ? 'default'
      : this.#isLenient && fits(this.#factor * lenience)
        ? 'lenient'
        : 'none'
    if (allowance !== 'none') this.#promised = promised
    return allowance
  }
}
