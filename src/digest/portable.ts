// WebAssembly digests that run in Node, workers and browsers alike.
import { createBLAKE3, createCRC32, createSHA256, type IHasher } from 'hash-wasm'
import type { Algorithm, DigestProvider, Hasher } from './types.js'

function wrap(inner: IHasher): Hasher {
  inner.init()
  return {
    update: (bytes) => void inner.update(bytes),
    digest: () => inner.digest('binary'),
  }
}

export const portableDigests: Readonly<Record<Algorithm, DigestProvider>> = {
  sha256: { name: 'hash-wasm', create: async () => wrap(await createSHA256()) },
  blake3: { name: 'hash-wasm', create: async () => wrap(await createBLAKE3()) },
  crc32: { name: 'hash-wasm', create: async () => wrap(await createCRC32()) },
}
