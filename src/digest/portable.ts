// Digests that run in Node, workers and browsers alike: BLAKE3 and CRC-32 in kernels of our own, SHA-256 from a package.
import { blake3Kernel, crc32Kernel } from '../kernels/digests/index.js'
import { Blake3Hasher } from './blake3-hasher.js'
import { crc32Hasher } from './crc32.js'
import { createPlainSha256 } from './sha256-plain.js'
import { createCompiledSha256 } from './sha256-wasm.js'
import type { Algorithm, DigestProvider } from './types.js'

const blake3: DigestProvider = {
  get name() {
    return blake3Kernel().name
  },
  create: () => new Blake3Hasher(blake3Kernel()),
}

const crc32: DigestProvider = {
  get name() {
    return crc32Kernel().name
  },
  create: () => crc32Hasher(crc32Kernel().update),
}

const sha256: DigestProvider = {
  name: 'hash-wasm',
  create: async () => (await createCompiledSha256()) ?? createPlainSha256(),
}

export const portableDigests: Readonly<Record<Algorithm, DigestProvider>> = { sha256, blake3, crc32 }
