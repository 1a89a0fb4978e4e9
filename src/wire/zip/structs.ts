// The records of a zip archive. All are little-endian and start with "PK" and two bytes that say which record it is.
//
//   local header, name, extra, data [, descriptor]   for each member
//   central entry, name, extra, comment              for each member: the central directory, which is what counts
//   [zip64 end record, zip64 locator]                when a number does not fit 16 or 32 bits
//   end record, comment
import { struct, u16, u32, u64, wide } from '../../bytes/index.js'

export const signatures = {
  local: 0x04034b50,
  descriptor: 0x08074b50,
  central: 0x02014b50,
  zip64End: 0x06064b50,
  zip64Locator: 0x07064b50,
  end: 0x06054b50,
} as const

export const localHeader = struct({
  signature: u32,
  versionNeeded: u16,
  flags: u16,
  method: u16,
  time: u16,
  date: u16,
  crc32: u32,
  compressedSize: u32,
  uncompressedSize: u32,
  nameLength: u16,
  extraLength: u16,
})

export const centralEntry = struct({
  signature: u32,
  versionMadeBy: u16,
  versionNeeded: u16,
  flags: u16,
  method: u16,
  time: u16,
  date: u16,
  crc32: u32,
  compressedSize: u32,
  uncompressedSize: u32,
  nameLength: u16,
  extraLength: u16,
  commentLength: u16,
  disk: u16,
  internalAttributes: u16,
  externalAttributes: u32,
  localOffset: u32,
})

/** What counts of a central entry. Directories are long, and field by field they are read several times as fast. */
export function centralFields(view: DataView, at: number) {
  const { get } = centralEntry
  return {
    signature: get.signature(view, at),
    flags: get.flags(view, at),
    method: get.method(view, at),
    crc32: get.crc32(view, at),
    compressedSize: get.compressedSize(view, at),
    uncompressedSize: get.uncompressedSize(view, at),
    nameLength: get.nameLength(view, at),
    extraLength: get.extraLength(view, at),
    commentLength: get.commentLength(view, at),
    disk: get.disk(view, at),
    localOffset: get.localOffset(view, at),
  }
}

export type CentralFields = ReturnType<typeof centralFields>

/** The same of a local header. */
export function localFields(view: DataView, at: number) {
  const { get } = localHeader
  return {
    signature: get.signature(view, at),
    flags: get.flags(view, at),
    method: get.method(view, at),
    crc32: get.crc32(view, at),
    compressedSize: get.compressedSize(view, at),
    uncompressedSize: get.uncompressedSize(view, at),
    nameLength: get.nameLength(view, at),
    extraLength: get.extraLength(view, at),
  }
}

export type LocalFields = ReturnType<typeof localFields>

const sums = { crc32: u32, compressedSize: u32, uncompressedSize: u32 }
const wideSums = { crc32: u32, compressedSize: wide, uncompressedSize: wide }

/** What can follow a member's data, by its length: with or without a signature, with sizes of 32 or 64 bits. */
export const descriptors = new Map(
  [struct(sums), struct({ signature: u32, ...sums }), struct(wideSums), struct({ signature: u32, ...wideSums })].map(
    (form) => [form.size, form],
  ),
)

export const hasSignature = (descriptorLength: number): boolean => descriptorLength === 16 || descriptorLength === 24

export type Descriptor = typeof descriptors extends Map<number, infer Form> ? Form : never

export const endRecord = struct({
  signature: u32,
  disk: u16,
  directoryDisk: u16,
  diskEntries: u16,
  entries: u16,
  directorySize: u32,
  directoryOffset: u32,
  commentLength: u16,
})

export const zip64End = struct({
  signature: u32,
  recordSize: u64,
  versionMadeBy: u16,
  versionNeeded: u16,
  disk: u32,
  directoryDisk: u32,
  diskEntries: u64,
  entries: u64,
  directorySize: u64,
  directoryOffset: u64,
})

export const zip64Locator = struct({ signature: u32, endDisk: u32, endOffset: u64, disks: u32 })

/** In these fields, all bits set means: look into the zip64 record. */
export const full16 = 0xffff
export const full32 = 0xffffffff

/** Bits of `flags`, as numbers to divide by. */
export const flagBits = { encrypted: 1, descriptor: 8, strongEncryption: 64, utf8: 2048, maskedHeaders: 8192 } as const

export const hasFlag = (flags: number, bit: number): boolean => Math.floor(flags / bit) % 2 === 1

export const isEncrypted = (flags: number): boolean =>
  hasFlag(flags, flagBits.encrypted) ||
  hasFlag(flags, flagBits.strongEncryption) ||
  hasFlag(flags, flagBits.maskedHeaders)

export const methods = { stored: 0, deflated: 8 } as const

export const zip64ExtraId = 1

/** The first extra field with this id, as its bytes; undefined when there is none, or the fields do not fill their space. */
export function findExtra(extra: Uint8Array, id: number): Uint8Array | undefined {
  const view = new DataView(extra.buffer, extra.byteOffset, extra.byteLength)
  for (let at = 0; at + 4 <= extra.byteLength; ) {
    const length = view.getUint16(at + 2, true)
    const end = at + 4 + length
    if (end > extra.byteLength) return undefined
    if (view.getUint16(at, true) === id) return extra.subarray(at + 4, end)
    at = end
  }
  return undefined
}

/** A header has 16 bits for the length of a name. */
export const maxNameBytes = 0xffff
