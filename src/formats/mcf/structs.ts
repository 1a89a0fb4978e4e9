// The fixed records of an MCF file, all little-endian. Offsets in the header, the section directory and a tensor's `dataOff` count from
// the start of the file; all others count from the start of their section (document: all absolute; reference: as here).
import { f32, raw, struct, u8, u16, u32, u64, wide } from '../../bytes/index.js'

export const magic = Uint8Array.of(0x4d, 0x43, 0x46, 0x00)

/** Every field is 64 bits wide where it could be: nothing is converted before it is checked against the file. */
export const header = struct({
  magic: raw(4),
  major: u16,
  minor: u16,
  headerSize: u32,
  sectionCount: u32,
  sectionDirOffset: u64,
  fileSize: u64,
  flags: u64,
})

export const sectionRecord = struct({ type: u32, version: u32, offset: u64, size: u64 })

export const indexHeader = struct({
  version: u32,
  flags: u32,
  tensorCount: u32,
  dimsCount: u32,
  entriesOff: u64,
  dimsOff: u64,
  stringsOff: u64,
  stringsSize: u64,
})

/** `dimOff` counts dimensions, not bytes. */
export const indexEntry = struct({
  nameOff: u32,
  nameLen: u32,
  dtype: u32,
  rank: u32,
  dimOff: u32,
  reserved: u32,
  dataOff: wide,
  dataSize: wide,
})

export const quantHeader = struct({ version: u32, recordCount: u32 })

export const quantRecord = struct({
  tensorIndex: u32,
  method: u8,
  domain: u8,
  blockSize: u16,
  superSize: u16,
  reserved: raw(6),
  minClip: f32,
  maxClip: f32,
})

/** An offset of 0 means that there is none. */
export const modelInfoHeader = struct({
  version: u32,
  flags: u32,
  arch: u32,
  reserved: u32,
  vocabSize: u32,
  hiddenSize: u32,
  layerCount: u32,
  headCount: u32,
  headCountKv: u32,
  contextLength: u32,
  trainContext: u32,
  ropeType: u32,
  ropeFreqBase: f32,
  ropeScale: f32,
  modelNameOff: u64,
  baseModelOff: u64,
  kvCount: u32,
  reserved2: u32,
  kvOff: u64,
})

export const kvEntry = struct({ keyOff: u64, type: u32, reserved: u32, valueOff: u64 })

/** Header flag 0: quantized payloads follow the 64-byte rules. */
export const flagAligned64 = 1n
/** Index flags: entries ascend by the bytes of their names; names are UTF-8. */
export const flagSorted = 1
export const flagUtf8 = 2
