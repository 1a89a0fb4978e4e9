// The checksums that deltas of others state for the new bytes of a tensor, beside BLAKE3.
import { toHex } from '../bytes/index.js'
import { createHasher } from '../digest/index.js'

export const checksumNames = ['adler32', 'xxh3-128', 'blake3'] as const

/** The name of a checksum, as it is stated in a delta. */
export type ChecksumName = (typeof checksumNames)[number]

export interface RunningChecksum {
  update(bytes: Uint8Array): void
  /** Hexadecimal. */
  digest(): string
}

export async function createChecksum(name: ChecksumName): Promise<RunningChecksum> {
  if (name === 'blake3') {
    const hasher = await createHasher('blake3')
    return { update: (bytes) => hasher.update(bytes), digest: () => toHex(hasher.digest()) }
  }
  const { createAdler32, createXXHash128 } = await import('hash-wasm')
  const hasher = name === 'adler32' ? await createAdler32() : await createXXHash128()
  hasher.init()
  return { update: (bytes) => void hasher.update(bytes), digest: () => hasher.digest('hex') }
}
