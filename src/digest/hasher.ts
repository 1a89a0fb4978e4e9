// The hashers of this process. The portable ones run everywhere; an environment with something faster (Node's crypto, a native package)
// registers it, and everything that hashes uses it.
import type { Algorithm, DigestProvider, Hasher } from './types.js'

/** Bytes of a digest. */
export const digestLengths: Readonly<Record<Algorithm, number>> = { blake3: 32, sha256: 32, crc32: 4 }

const registered = new Map<Algorithm, DigestProvider>()

/** Replaces the portable implementation of an algorithm in this process. */
export function registerDigest(algorithm: Algorithm, provider: DigestProvider): void {
  registered.set(algorithm, provider)
}

export async function providerOf(algorithm: Algorithm): Promise<DigestProvider> {
  const known = registered.get(algorithm)
  if (known) return known
  const { portableDigests } = await import('./portable.js')
  return portableDigests[algorithm]
}

export async function createHasher(algorithm: Algorithm): Promise<Hasher> {
  return (await providerOf(algorithm)).create()
}

export async function digestProviderName(algorithm: Algorithm): Promise<string> {
  return (await providerOf(algorithm)).name
}

/** The cost that the provider itself declares. */
export async function declaredCost(algorithm: Algorithm): Promise<number | undefined> {
  return (await providerOf(algorithm)).cost
}

export async function digestOf(algorithm: Algorithm, bytes: Uint8Array): Promise<Uint8Array> {
  const hasher = await createHasher(algorithm)
  hasher.update(bytes)
  return hasher.digest()
}
