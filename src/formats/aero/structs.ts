// An AERO file is a header of 96 bytes, a table of contents (TOC) with one 80-byte entry per chunk, a string table with the chunks'
// names, and the chunks. Everything is little-endian. Offsets are absolute; readers trust them alone, so the order of the pieces is
// free, but writers put them in the order above, with every chunk on a multiple of 16.
import { raw, type StructValues, struct, u16, u32, u64 } from '../../bytes/index.js'

export const header = struct({
  magic: raw(4),
  versionMajor: u16,
  versionMinor: u16,
  headerSize: u32,
  tocOffset: u64,
  tocLength: u64,
  stringTableOffset: u64,
  stringTableLength: u64,
  fileFlags: u64,
  uuid: raw(16),
  reserved: raw(28),
})

export const tocHeader = struct({ entryCount: u32, reserved0: u32, reserved1: u64 })

export const tocEntry = struct({
  fourcc: raw(4),
  chunkFlags: u32,
  chunkOffset: u64,
  chunkLength: u64,
  chunkUlen: u64,
  nameOff: u32,
  nameLen: u32,
  reserved0: u64,
  blake3: raw(32),
})

/** The size of a table of contents; the header may state more. */
export const tocSize = (entryCount: number): number => tocHeader.size + entryCount * tocEntry.size

export type Header = StructValues<typeof header>
export type TocEntry = StructValues<typeof tocEntry>

export const magic = [0x41, 0x45, 0x52, 0x4f] as const
export const digestSize = 32
export const chunkAlignment = 16
export const stringTableAlignment = 8

export const maxEntries = 1_000_000
export const maxStringTable = 512 * 2 ** 20
export const maxMetadata = 2 ** 31

export const flags = { zstd: 1, mmapCritical: 2, index: 4, optional: 8 } as const
export const hasFlag = (value: number, flag: number): boolean => Math.floor(value / flag) % 2 === 1

/** The offset of the hash of an entry. */
export const hashOffset = (tocOffset: number, index: number): number =>
  tocOffset + tocHeader.size + index * tocEntry.size + tocEntry.offsetOf('blake3')

export const shardName = (id: number): string => `weights.shard${id}`
export const pagesName = (shard: string): string => `${shard}.phsh`

/** Any four bytes as a string of four characters; the reverse of `fourccBytes`. */
export const fourccText = (bytes: Uint8Array): string => String.fromCharCode(...bytes)
export const fourccBytes = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0))
