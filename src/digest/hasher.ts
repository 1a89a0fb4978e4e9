// One face for all digests. The portable ones run everywhere; an environment with something faster (Node's crypto, a native package)
// registers it, and everything that hashes gets it.

import type { Algorithm, DigestProvider, Hasher } from './types.js'

const registered = new Map<Algorithm, DigestProvider>()

/** Replaces the portable implementation of an algorithm in this process. */
export function registerDigest(algorithm: Algorithm, provider: DigestProvider): void {
  registered.set(algorithm, provider)
}

async function providerOf(algorithm: Algorithm): Promise<DigestProvider> {
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

/** What a byte takes, in nanoseconds, about. */
export async function digestCost(algorithm: Algorithm): Promise<number> {
  return (await providerOf(algorithm)).cost ?? 1
}

export async function digestOf(algorithm: Algorithm, bytes: Uint8Array): Promise<Uint8Array> {
  const hasher = await createHasher(algorithm)
  hasher.update(bytes)
  return hasher.digest()
}
