// BLAKE3 in parts: subtrees can be hashed by different threads and combined afterwards. Only our own kernels give the values of subtrees.
import { joinSubtrees } from '../kernels/digests/blake3.js'
import { blake3Kernel } from '../kernels/digests/index.js'
import { Blake3Hasher } from './blake3-hasher.js'
import type { Hasher } from './types.js'

/** What computes the values of subtrees. */
export const subtreeKernel = (): string => blake3Kernel().name

/** Its `digest` is the chaining value of a subtree that starts at this chunk number, a multiple of 64. */
export const createSubtreeHasher = (chunk: number): Hasher => new Blake3Hasher(blake3Kernel(), chunk)

/** The digest of the whole from the values of its subtrees: all of one size, a power of two, but for the last. */
export const joinSubtreeValues = (values: Uint8Array): Uint8Array => joinSubtrees(blake3Kernel(), values, true)
