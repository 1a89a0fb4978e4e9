// BLAKE3 hashes chunks of 1 KiB and combines the results, 32 bytes each, in a binary tree. Every chunk is mixed with its number, so a part of
// the input gives its node of the tree only when it is hashed as a subtree that starts at that chunk number.

/** The maximum input of one kernel call: 64 chunks, a whole subtree. */
export const blockSize = 65_536
export const chunkSize = 1024
export const valueSize = 32

export interface Blake3Kernel {
  readonly name: string
  /**
   * The chaining value of at most `blockSize` bytes that start at chunk number `counter`, a multiple of 64. The root of the whole tree is
   * flagged as such; its value is the digest.
   */
  subtree(bytes: Uint8Array, counter: number, isRoot: boolean): Uint8Array
  /** The node over two others. */
  parent(left: Uint8Array, right: Uint8Array, isRoot: boolean): Uint8Array
}

/**
 * The node over the subtrees whose values lie one after another: all have the same number of chunks, a power of two, but the last may be
 * shorter.
 */
export function joinSubtrees(kernel: Blake3Kernel, values: Uint8Array, isRoot: boolean): Uint8Array {
  let level = Array.from({ length: values.byteLength / valueSize }, (_, i) =>
    values.subarray(i * valueSize, (i + 1) * valueSize),
  )
  while (level.length > 1) {
    const next: Uint8Array[] = []
    for (let i = 0; i < level.length; i += 2) {
      const [left, right] = [level[i]!, level[i + 1]]
      next.push(right ? kernel.parent(left, right, isRoot && level.length === 2) : left)
    }
    level = next
  }
  return level[0]!
}
