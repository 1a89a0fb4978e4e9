// How much of a file may be hashed. What has hashes (tensors, chunks, pages) may lie over each other as it likes, and a table of a few
// kilobytes can stand for more digests than anybody waits for; so whoever computes them asks here first.

/** How often the bytes of a file may be hashed. Honest files need three passes: chunk, page and tensor; ties add a few. */
export const maxPasses = 16
const smallFile = 64 * 2 ** 20

/**
 * What the shortest digest counts as: it takes memory and time of its own, however few bytes it covers. A digest that is listed in an honest
 * file takes 32 bytes there, which nothing compresses, so that as many as a file has can be afforded.
 */
const minDigest = 256

export class WorkBudget {
  #left: number

  constructor({ size }: { readonly size: number }) {
    this.#left = Math.max(smallFile, maxPasses * size)
  }

  /** Whether so many bytes can still be taken in. Once something was too much, everything is. */
  affords(length: number): boolean {
    this.#left = length > this.#left ? -1 : this.#left - length
    return this.#left >= 0
  }

  /** The same, for a digest over so many bytes. */
  affordsDigest(length: number): boolean {
    return this.affords(Math.max(length, minDigest))
  }
}
