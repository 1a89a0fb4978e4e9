// The fixed fields at the beginning of a file, and the limits of the format.
import { type ByteSource, isPowerOfTwo, type Range, raw, struct, u32, u64 } from '../../bytes/index.js'
import type { Metadata, MetaValue, Tensor } from '../../model/index.js'

export const magic = Uint8Array.of(0x47, 0x47, 0x55, 0x46)
export const preamble = struct({ magic: raw(4), version: u32 })
export const counts = struct({ tensorCount: u64, metadataKvCount: u64 })
/** Of version 1. */
export const shortCounts = struct({ tensorCount: u32, metadataKvCount: u32 })

/** How the numbers of a file are stored, as its first eight bytes show. */
export interface Encoding {
  readonly version: number
  readonly littleEndian: boolean
  /** Lengths and counts have 8 bytes; 4 in version 1. */
  readonly lengthSize: 4 | 8
}

/** One file, which may be a part of a set. */
export interface GgufFile {
  readonly source: ByteSource
  readonly encoding: Encoding
  readonly metadata: Metadata
  readonly tensors: readonly Tensor[]
  /** Bytes that should be zero. */
  readonly padding: readonly Range[]
}

export const architectureKey = 'general.architecture'
export const quantizationVersionKey = 'general.quantization_version'
export const alignmentKey = 'general.alignment'
export const defaultAlignment = 32
/** A larger one would only inflate files, or make sums overflow in other readers. */
export const maxAlignment = 1 << 20

/** The number that `general.alignment` stands for; undefined for values that it may not have. */
export function alignmentOf(value: MetaValue | undefined): number | undefined {
  const alignment = value?.type === 'u32' ? Number(value.value) : 0
  return isPowerOfTwo(alignment) && alignment <= maxAlignment ? alignment : undefined
}

export const maxKeyBytes = 65_535
export const maxDims = 4
/** llama.cpp has room for 64, the last of which is a zero; it refuses files with longer names. */
export const maxNameBytes = 63
