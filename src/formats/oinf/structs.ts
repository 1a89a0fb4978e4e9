// The fixed parts of an OINF file, little-endian and packed without alignment:
//
//   header 69 bytes + 3 of padding | sizevars | metadata | tensors | values
//
// Each table is a list of records, a record a string and fixed fields. Only the values (metadata values, tensor data, quantization)
// and the sections start on multiples of 8. A tensor record is always 4 more than a multiple of 8 long, so every other one starts
// between two multiples, and the padding of its name is counted from the name's own beginning, not from the file's.
import { alignUp, raw, struct, u32, u64, wide } from '../../bytes/index.js'

export const alignment = 8
export const magic = Uint8Array.of(0x4f, 0x49, 0x4e, 0x46, 0)

export const aligned = (length: number): number => alignUp(length, alignment)

/** Bytes of a string: a u32 length, the text, zeros up to a multiple of 8. */
export const stringSize = (length: number): number => aligned(4 + length)

export const fileHeader = struct({
  magic: raw(magic.byteLength),
  version: u32,
  flags: u32,
  nSizevars: u32,
  nMetadata: u32,
  nTensors: u32,
  reserved: u32,
  offsetSizevars: u64,
  offsetMetadata: u64,
  offsetTensors: u64,
  offsetData: u64,
  fileSize: u64,
})

/** Where the first section starts. */
export const headerEnd = aligned(fileHeader.size)

export const sizevarFields = struct({ value: u64 })
export const metadataFields = struct({ valueType: u32, valueFlags: u32, valueNbytes: wide, valueOffset: wide })

/** A tensor record: name, these, `ndim` dimensions of u64, then the ranges. */
export const tensorFields = struct({ dtype: u32, ndim: u32, flags: u32 })
export const dataFields = struct({ dataNbytes: wide, dataOffset: wide })
/** Only in version 2. */
export const quantFields = struct({ quantNbytes: wide, quantOffset: wide })

export const hasData = 1
export const hasQuant = 2

/** The beginning of a quantization payload; f32 scales and i32 zero points follow, then zeros up to a multiple of 8. */
export const quantHeader = struct({
  scheme: u32,
  scaleMode: u32,
  zpMode: u32,
  reserved: u32,
  scaleAxis: u64,
  scaleCount: u64,
  zpAxis: u64,
  zpCount: u64,
})

/** The flag that chooses the version to write. */
export const versionOption = 'oinf-version'
