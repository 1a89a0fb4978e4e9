// Limits how much of a file may be hashed. Hashed regions (tensors, chunks, pages) may overlap, so a table of a few kilobytes can ask for
// more digests than could ever be computed; code that computes digests asks here first.

/** How many times the bytes of a file may be hashed. Real files need three passes (chunk, page and tensor); tied tensors add a few. */
export const maxPasses = 16
const smallFile = 64 * 2 ** 20

/**
 * The minimum that a digest counts as: it takes memory and time however few bytes it covers. A real file stores 32 incompressible bytes for
 * each digest it lists, so every digest of such a file fits the budget.
 */
const minDigest = 256

export class WorkBudget {
  #left: number

  constructor({ size }: { readonly size: number }) {
    this.#left = Math.max(smallFile, maxPasses * size)
  }

  /** Whether `length` more bytes may be hashed. Once the budget is exceeded, every further request is refused. */
  affords(length: number): boolean {
    this.#left = length > this.#left ? -1 : this.#left - length
    return this.#left >= 0
  }

  /** The same, for a digest over `length` bytes. */
  affordsDigest(length: number): boolean {
    return this.affords(Math.max(length, minDigest))
  }
}
