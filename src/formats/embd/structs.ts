// The sectioned layout: a header that places four sections, the sections, a footer that ends the file. Everything is little-endian.
//
//   header 64 · metadata · vocabulary · tensor index (descriptors, then names) · tensor data · footer 16
//
// Offsets in the header count from the start of the file, data_offset in a descriptor from the start of the data section.
import { encodeUtf8, raw, type StructValues, struct, u8, u16, u32, u64 } from '../../bytes/index.js'
import { bf16, u8 as byte, type DType, f16, f32, u16 as half, i8, i16, i32, u32 as word } from '../../dtypes/index.js'

export const magic = encodeUtf8('EMBD')
export const magicEnd = encodeUtf8('DBME')

export const header = struct({
  magic: raw(4),
  versionMajor: u16,
  versionMinor: u16,
  flags: u32,
  metadataOffset: u32,
  metadataSize: u32,
  vocabOffset: u32,
  vocabSize: u32,
  tensorIndexOffset: u32,
  tensorIndexCount: u32,
  tensorDataOffset: u32,
  tensorDataSize: u64,
  totalFileSize: u64,
  headerChecksum: u32,
  reserved: u32,
})
export type Header = StructValues<typeof header>

/** What the header's checksum covers: everything before it. */
export const checkedHeader = header.offsetOf('headerChecksum')

export const flag = { vocabulary: 1, aligned: 2, checksums: 4, compressed: 8, reserved: 0xfffffff0 } as const

export const footer = struct({ dataChecksum: u32, fileChecksum: u32, magicEnd: raw(4), reserved: u32 })
export type Footer = StructValues<typeof footer>

export const metadataHeader = struct({ entryCount: u32, totalSize: u32 })
export const metadataEntry = struct({ keyLength: u16, valueLength: u16 })

export const vocabHeader = struct({ tokenCount: u32, totalSize: u32, specialTokens: u32 })
export const specialBlock = struct({ padId: u32, unkId: u32, clsId: u32, sepId: u32, maskId: u32 })

export const descriptor = struct({
  nameHash: u32,
  dtype: u8,
  ndim: u8,
  nameLength: u16,
  shape0: u32,
  shape1: u32,
  shape2: u32,
  shape3: u32,
  dataOffset: u64,
})
export type Descriptor = StructValues<typeof descriptor>

/** The place in this list is the code in the file. */
export const dtypes: readonly DType[] = [f32, f16, bf16, i32, i16, i8, word, half, byte]
export const dtypeCode = new Map(dtypes.map((dtype, code) => [dtype.id, code]))

export const maxRank = 4
export const alignment = 64

/** Roughly what a tensor or a metadata entry takes in memory; the limit on an index is a limit on memory. */
export const bytesPerEntry = 512

/** Limits of the reference library for stream files. */
export const maxStringLength = 1_048_576
export const maxTokenCount = 100_000

/** The metadata keys that the document requires, in its order. */
export const requiredKeys = [
  'model_name',
  'model_version',
  'embedding_dim',
  'vocab_size',
  'num_layers',
  'num_attention_heads',
  'hidden_size',
  'intermediate_size',
  'max_position_emb',
  'created_at',
] as const

export function u32Bytes(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value, true)
  return bytes
}
