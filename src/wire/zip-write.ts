// Writing zip archives: members stored as they are, each starting on a multiple of the alignment, no times, so that the same input gives
// the same bytes. Checksums are left open: where one belongs, a piece says which bytes of the file it covers.
import { alignUp, encodeUtf8, joinBytes } from '../bytes/index.js'
import {
  centralEntry,
  endRecord,
  full16,
  full32,
  localHeader,
  signatures,
  zip64End,
  zip64Locator,
} from './zip-structs.js'

export interface NewMember {
  readonly name: string
  readonly size: number
}

/** Bytes, or the place of a CRC-32 (little-endian) over a range of the file. */
export type ZipPiece =
  | { readonly kind: 'bytes'; readonly path: string; readonly bytes: Uint8Array }
  | { readonly kind: 'crc32'; readonly path: string; readonly covers: readonly [start: number, end: number] }

export interface NewArchive {
  /** What goes before each member's data. */
  readonly heads: readonly (readonly ZipPiece[])[]
  /** What goes after the last one: the central directory and the end records. */
  readonly tail: readonly ZipPiece[]
}

/** Midnight of 1 January 1980, the earliest date there is. */
const firstDate = 0x0021
/** Made on Unix: a file that its owner may read and write. */
const unix = 3 * 256
const fileMode = 0o100600 * 65_536
const utf8Flag = 2048
/** The extra field that is known for padding a member to an alignment, which it states. */
const alignmentId = 0xd935

interface Placed {
  readonly member: NewMember
  readonly name: Uint8Array
  readonly headerOffset: number
  readonly dataOffset: number
}

/** `comment` follows everything else; readers of members do not see it. */
export function layOutZip(
  members: readonly NewMember[],
  alignment: number,
  comment: Uint8Array = new Uint8Array(),
): NewArchive {
  let offset = 0
  const placed: Placed[] = []
  const heads = members.map((member) => {
    const name = encodeUtf8(member.name)
    const extra = localExtra(member, offset + localHeader.size + name.byteLength, alignment)
    const dataOffset = offset + localHeader.size + name.byteLength + extra.byteLength
    const place = { member, name, headerOffset: offset, dataOffset }
    placed.push(place)
    offset = dataOffset + member.size
    return withChecksum(localBytes(place, extra), localHeader.offsetOf('crc32'), place)
  })
  return { heads, tail: layOutTail(placed, offset, comment) }
}

const pathOf = ({ member }: Placed): string => `members[${JSON.stringify(member.name)}]`

function withChecksum(bytes: Uint8Array, at: number, place: Placed): ZipPiece[] {
  const path = pathOf(place)
  const covers = [place.dataOffset, place.dataOffset + place.member.size] as const
  return [
    { kind: 'bytes', path, bytes: bytes.subarray(0, at) },
    { kind: 'crc32', path: `${path}.crc32`, covers },
    { kind: 'bytes', path, bytes: bytes.subarray(at + 4) },
  ]
}

const isWide = (size: number): boolean => size >= full32
const narrow = (size: number): number => Math.min(size, full32)
const flagsOf = (name: Uint8Array): number => (name.some((byte) => byte > 0x7f) ? utf8Flag : 0)
const versionFor = (wide: boolean): number => (wide ? 45 : 20)

function localExtra({ size }: NewMember, offset: number, alignment: number): Uint8Array {
  const wide = isWide(size) ? zip64Field([size, size]) : new Uint8Array()
  const start = offset + wide.byteLength
  const rest = start % alignment
  if (rest === 0) return wide
  const smallest = 6
  const length = alignUp(start + smallest, alignment) - start
  const padding = new Uint8Array(length)
  const view = new DataView(padding.buffer)
  view.setUint16(0, alignmentId, true)
  view.setUint16(2, length - 4, true)
  view.setUint16(4, alignment, true)
  return joinBytes([wide, padding])
}

function localBytes({ member, name }: Placed, extra: Uint8Array): Uint8Array {
  const header = localHeader.write({
    signature: signatures.local,
    versionNeeded: versionFor(isWide(member.size)),
    flags: flagsOf(name),
    method: 0,
    time: 0,
    date: firstDate,
    crc32: 0,
    compressedSize: narrow(member.size),
    uncompressedSize: narrow(member.size),
    nameLength: name.byteLength,
    extraLength: extra.byteLength,
  })
  return joinBytes([header, name, extra])
}

function layOutTail(placed: readonly Placed[], offset: number, comment: Uint8Array): ZipPiece[] {
  const pieces: ZipPiece[] = []
  let size = 0
  for (const place of placed) {
    const bytes = centralBytes(place)
    pieces.push(...withChecksum(bytes, centralEntry.offsetOf('crc32'), place))
    size += bytes.byteLength
  }
  const count = placed.length
  const needs64 = count >= full16 || isWide(size) || isWide(offset)
  if (needs64) pieces.push({ kind: 'bytes', path: 'zip64_end', bytes: wideEnd(count, size, offset) })
  const end = endRecord.write({
    signature: signatures.end,
    disk: 0,
    directoryDisk: 0,
    diskEntries: Math.min(count, full16),
    entries: Math.min(count, full16),
    directorySize: narrow(size),
    directoryOffset: narrow(offset),
    commentLength: comment.byteLength,
  })
  return [...pieces, { kind: 'bytes', path: 'end', bytes: joinBytes([end, comment]) }]
}

function centralBytes({ member, name, headerOffset }: Placed): Uint8Array {
  const wideSize = isWide(member.size) ? [member.size, member.size] : []
  const wideOffset = isWide(headerOffset) ? [headerOffset] : []
  const extra = zip64Field([...wideSize, ...wideOffset])
  const version = versionFor(extra.byteLength > 0)
  const entry = centralEntry.write({
    signature: signatures.central,
    versionMadeBy: unix + version,
    versionNeeded: version,
    flags: flagsOf(name),
    method: 0,
    time: 0,
    date: firstDate,
    crc32: 0,
    compressedSize: narrow(member.size),
    uncompressedSize: narrow(member.size),
    nameLength: name.byteLength,
    extraLength: extra.byteLength,
    commentLength: 0,
    disk: 0,
    internalAttributes: 0,
    externalAttributes: fileMode,
    localOffset: narrow(headerOffset),
  })
  return joinBytes([entry, name, extra])
}

function wideEnd(count: number, size: number, offset: number): Uint8Array {
  const record = zip64End.write({
    signature: signatures.zip64End,
    recordSize: BigInt(zip64End.size - 12),
    versionMadeBy: unix + 45,
    versionNeeded: 45,
    disk: 0,
    directoryDisk: 0,
    diskEntries: BigInt(count),
    entries: BigInt(count),
    directorySize: BigInt(size),
    directoryOffset: BigInt(offset),
  })
  const endOffset = BigInt(offset + size)
  const locator = zip64Locator.write({ signature: signatures.zip64Locator, endDisk: 0, endOffset, disks: 1 })
  return joinBytes([record, locator])
}

function zip64Field(numbers: readonly number[]): Uint8Array {
  if (numbers.length === 0) return new Uint8Array()
  const field = new Uint8Array(4 + 8 * numbers.length)
  const view = new DataView(field.buffer)
  view.setUint16(0, 1, true)
  view.setUint16(2, 8 * numbers.length, true)
  for (const [i, number] of numbers.entries()) view.setBigUint64(4 + 8 * i, BigInt(number), true)
  return field
}
