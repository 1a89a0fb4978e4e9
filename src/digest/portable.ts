// WebAssembly digests that run in Node, workers and browsers alike.
import { createBLAKE3, createCRC32, createSHA256, type IHasher } from 'hash-wasm'
import type { Algorithm, DigestProvider, Hasher } from './types.js'

/** Each instance has a WebAssembly memory of its own, which takes longer to set up than a page takes to hash: they are used again. */
const mostIdle = 16

function pooled(make: () => Promise<IHasher>): DigestProvider {
  const idle: IHasher[] = []
  return {
    name: 'hash-wasm',
    async create(): Promise<Hasher> {
      const inner = idle.pop() ?? (await make())
      inner.init()
      let result: Uint8Array | undefined
      return {
        update(bytes) {
          if (result) throw new Error('this digest was taken already')
          inner.update(bytes)
        },
        digest() {
          if (!result) {
            result = inner.digest('binary')
            if (idle.length < mostIdle) idle.push(inner)
          }
          return result
        },
      }
    },
  }
}

export const portableDigests: Readonly<Record<Algorithm, DigestProvider>> = {
  sha256: pooled(createSHA256),
  blake3: pooled(() => createBLAKE3()),
  crc32: pooled(() => createCRC32()),
}
