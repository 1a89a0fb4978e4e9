import type { Algorithm } from './types.js'

/** How many bytes a digest has. */
export const digestLengths: Readonly<Record<Algorithm, number>> = { blake3: 32, sha256: 32, crc32: 4 }
