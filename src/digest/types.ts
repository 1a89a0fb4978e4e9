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
  /** What a byte takes, in nanoseconds; about, for those who spread work over threads. */
  readonly cost?: number
  create(): Hasher | Promise<Hasher>
}
