// The fixed fields at the beginning of a file, and the limits of the format.
import { type ByteSource, isPowerOfTwo, type Range, raw, struct, u32, u64 } from '../../bytes/index.js'
import type { Metadata, MetaValue, Model, Part, Tensor } from '../../model/index.js'

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

/** How the names of an importance matrix's sums end. */
export const sumsSuffix = '.in_sum2'

/** Whether the file holds an importance matrix: it says so, or there are sums of activations. */
export function isImatrix({ metadata, tensors }: Pick<Model, 'metadata' | 'tensors'>): boolean {
  const type = metadata.get('general.type')
  return type?.type === 'str' ? type.value === 'imatrix' : tensors.some(({ name }) => name.endsWith(sumsSuffix))
}

// The data of a GGUF file begins at the first multiple of the alignment after the index, so room for a longer index must be inside it: an
// entry of zeros, under a key that other programs ignore. In the model it is a part, not metadata.

export const slackKey = 'tare.slack'
export const slackOption = 'header-slack'
const slackKind = 'gguf.slack'

/** What the entry takes in addition to its zeros: length of the key, key, type, type of the items, count. */
export const fillerOverhead = 8 + slackKey.length + 4 + 4 + 8

export const filler = (length: number): MetaValue => ({
  type: 'array',
  item: 'u8',
  length,
  values: () => Array.from({ length }, () => ({ type: 'u8', value: 0 })),
})

/** The metadata without the room, and the room as a part. */
export function splitSlack(metadata: Metadata): { metadata: Metadata; parts: readonly Part[] } {
  const found = metadata.get(slackKey)
  if (found?.type !== 'array' || found.item !== 'u8') return { metadata, parts: [] }
  const rest = new Map([...metadata].filter(([key]) => key !== slackKey))
  return { metadata: rest, parts: [{ kind: slackKind, sharing: 'derived', value: { bytes: found.length } }] }
}

/** How many bytes of room the model had where it was read. */
export function slackOf({ parts }: Model): number {
  const value = parts.find(({ kind }) => kind === slackKind)?.value as { readonly bytes: number } | undefined
  return value?.bytes ?? 0
}
