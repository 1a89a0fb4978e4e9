/** The digests that tare computes. */
export const algorithms = ['blake3', 'sha256', 'crc32'] as const

/** The name of a digest algorithm. */
export type Algorithm = (typeof algorithms)[number]

export interface Hasher {
  update(bytes: Uint8Array): void
  /** Big-endian for crc32, as it is printed by convention. */
  digest(): Uint8Array
  /** For checksums that can be combined from those of pieces. */
  readonly pieces?: PieceSums
}

export interface PieceSums {
  /** The checksum of a piece alone. */
  sumOf(bytes: Uint8Array): number
  /** Instead of an update with the piece. */
  append(sum: number, length: number): void
}

export interface DigestProvider {
  /** What it runs on, for `tare --version --verbose`. */
  readonly name: string
  /** Nanoseconds per byte, to decide whether work goes to threads; for providers that tare does not know. */
  readonly cost?: number
  create(): Hasher | Promise<Hasher>
}
