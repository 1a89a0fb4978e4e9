// The hashers of this process, and how much they may be asked to do. The portable ones run everywhere; an environment with something faster
// (Node's crypto, a native package) registers it, and everything that hashes uses it.
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

/** FNV-1a with 32 bits: fast and simple, for tables of names. Not cryptographic: collisions are easy to find. */
export function fnv1a32(bytes: Uint8Array, start = 0, end = bytes.byteLength): number {
  let hash = 0x811c9dc5
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193)
  return hash >>> 0
}

// Limits how much of a file may be hashed. Hashed regions (tensors, chunks, pages) may overlap, so a table of a few kilobytes can ask for
// more digests than could ever be computed; code that computes digests asks here first.

/** How many times the bytes of a file may be hashed. Real files need three passes (chunk, page and tensor); tied tensors add a few. */
export const maxPasses = 16
const smallFile = 64 * 2 ** 20

/**
 * The minimum that a digest counts as: it takes memory and time however few bytes it covers. A real file stores 32 incompressible bytes for
 * each digest it lists, so every digest of such a file fits the budget.
 */
const minDigest = 256

export class WorkBudget {
  #left: number

  constructor({ size }: { readonly size: number }) {
    this.#left = Math.max(smallFile, maxPasses * size)
  }

  /** Whether `length` more bytes may be hashed. Once the budget is exceeded, every further request is refused. */
  affords(length: number): boolean {
    this.#left = length > this.#left ? -1 : this.#left - length
    return this.#left >= 0
  }

  /** The same, for a digest over `length` bytes. */
  affordsDigest(length: number): boolean {
    return this.affords(Math.max(length, minDigest))
  }
}
