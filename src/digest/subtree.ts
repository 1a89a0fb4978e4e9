// BLAKE3 in parts: subtrees can be hashed by different threads and put together afterwards. Only our own kernels give their values.
import { Blake3Hasher } from './blake3-hasher.js'
import { type Blake3Kernel, joinSubtrees } from './blake3-kernel.js'
import { plainBlake3 } from './blake3-plain.js'
import { compiledDigests } from './digests-wasm.js'
import type { Hasher } from './types.js'

export const blake3Kernel = (): Blake3Kernel => compiledDigests()?.blake3 ?? plainBlake3

/** What a byte takes, in nanoseconds, about. */
export const subtreeCost = 0.55

/** `digest` gives the chaining value of a subtree whose first chunk has this number, a multiple of 64. */
export const createSubtreeHasher = (chunk: number): Hasher => new Blake3Hasher(blake3Kernel(), chunk)

/** The digest of the whole from the values of its subtrees: all of one size, a power of two, but for the last. */
export const joinSubtreeValues = (values: Uint8Array): Uint8Array => joinSubtrees(blake3Kernel(), values, true)
