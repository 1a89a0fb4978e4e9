// One face for all digests. The portable ones run everywhere; an environment with something faster (Node's crypto, a native package)
// registers it, and everything that hashes gets it.

export type Algorithm = 'sha256' | 'blake3' | 'crc32'

export const algorithms: readonly Algorithm[] = ['blake3', 'sha256', 'crc32']

export interface Hasher {
  update(bytes: Uint8Array): void
  /** Big-endian for crc32, as it is usually printed. */
  digest(): Uint8Array
}

export interface DigestProvider {
  /** What it runs on, for `tare --version --verbose`. */
  readonly name: string
  create(): Hasher | Promise<Hasher>
}

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

export async function digestOf(algorithm: Algorithm, bytes: Uint8Array): Promise<Uint8Array> {
  const hasher = await createHasher(algorithm)
  hasher.update(bytes)
  return hasher.digest()
}
