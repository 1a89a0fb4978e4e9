// Digests that run in Node, workers and browsers alike: BLAKE3 and CRC-32 in kernels of our own, SHA-256 from a package.
import { Blake3Hasher } from './blake3-hasher.js'
import { crc32Hasher } from './crc32-hasher.js'
import { plainCrc32 } from './crc32-plain.js'
import { compiledDigests } from './digests-wasm.js'
import { createPlainSha256 } from './sha256-plain.js'
import { createCompiledSha256 } from './sha256-wasm.js'
import { blake3Kernel, subtreeCost } from './subtree.js'
import type { Algorithm, DigestProvider } from './types.js'

const blake3: DigestProvider = {
  get name() {
    return blake3Kernel().name
  },
  cost: subtreeCost,
  create: () => new Blake3Hasher(blake3Kernel()),
}

const crc32: DigestProvider = {
  get name() {
    return compiledDigests() ? 'WebAssembly' : 'plain'
  },
  cost: 0.33,
  create: () => crc32Hasher(compiledDigests()?.crc32 ?? plainCrc32),
}

const sha256: DigestProvider = {
  name: 'hash-wasm',
  cost: 2.5,
  create: async () => (await createCompiledSha256()) ?? createPlainSha256(),
}

export const portableDigests: Readonly<Record<Algorithm, DigestProvider>> = { sha256, blake3, crc32 }
