// The headers of members that are stored as they are, and the records at the end, as bytes. No times are written, so that the same input gives
// the same bytes; checksums are left blank.
import { alignUp, encodeUtf8, joinBytes } from '../../bytes/index.js'
import {
  centralEntry,
  endRecord,
  flagBits,
  full16,
  full32,
  localHeader,
  methods,
  signatures,
  zip64End,
  zip64ExtraId,
  zip64Locator,
} from './structs.js'

/** Midnight of 1 January 1980, the earliest date there is. */
const firstDate = 0x0021
/** Made on Unix: a file that its owner may read and write. */
const unix = 3 * 256
const fileMode = 0o100600 * 65_536
/** The extra field that is known for padding a member to an alignment, which it states. */
const alignmentId = 0xd935

/** A member, and where it lies. */
export interface Placed {
  readonly name: string
  readonly nameLength: number
  readonly size: number
  readonly headerOffset: number
  readonly dataOffset: number
}

const isWide = (size: number): boolean => size >= full32
const narrow = (size: number): number => Math.min(size, full32)
const flagsOf = (name: Uint8Array): number => (name.some((byte) => byte > 0x7f) ? flagBits.utf8 : 0)
const versionFor = (wide: boolean): number => (wide ? 45 : 20)

/** A field of its own that pads the data to the alignment takes at least this. */
const minPadding = 6

export function localExtraLength(size: number, offset: number, alignment: number): number {
  const wide = isWide(size) ? zip64Length(2) : 0
  const start = offset + wide
  return start % alignment === 0 ? wide : wide + alignUp(start + minPadding, alignment) - start
}

export function localBytes(place: Placed, alignment: number): Uint8Array {
  const { nameLength, size, headerOffset, dataOffset } = place
  const name = encodeUtf8(place.name)
  const extraLength = dataOffset - headerOffset - localHeader.size - nameLength
  const bytes = new Uint8Array(dataOffset - headerOffset)
  const view = new DataView(bytes.buffer)
  localHeader.writeInto(view, 0, {
    signature: signatures.local,
    versionNeeded: versionFor(isWide(size)),
    flags: flagsOf(name),
    method: methods.stored,
    time: 0,
    date: firstDate,
    crc32: 0,
    compressedSize: narrow(size),
    uncompressedSize: narrow(size),
    nameLength,
    extraLength,
  })
  bytes.set(name, localHeader.size)
  const extraAt = localHeader.size + nameLength
  const wide = isWide(size) ? zip64Field([size, size]) : new Uint8Array()
  bytes.set(wide, extraAt)
  const paddingAt = extraAt + wide.byteLength
  if (paddingAt < bytes.byteLength) {
    view.setUint16(paddingAt, alignmentId, true)
    view.setUint16(paddingAt + 2, bytes.byteLength - paddingAt - 4, true)
    view.setUint16(paddingAt + 4, alignment, true)
  }
  return bytes
}

/** What a central entry states in its zip64 field. */
function wideNumbers({ size, headerOffset }: Placed): number[] {
  const wideSize = isWide(size) ? [size, size] : []
  return isWide(headerOffset) ? [...wideSize, headerOffset] : wideSize
}

export const centralLength = (place: Placed): number =>
  centralEntry.size + place.nameLength + zip64Length(wideNumbers(place).length)

export function centralBytes(place: Placed): Uint8Array {
  const { size, headerOffset } = place
  const name = encodeUtf8(place.name)
  const extra = zip64Field(wideNumbers(place))
  const version = versionFor(extra.byteLength > 0)
  const entry = centralEntry.write({
    signature: signatures.central,
    versionMadeBy: unix + version,
    versionNeeded: version,
    flags: flagsOf(name),
    method: methods.stored,
    time: 0,
    date: firstDate,
    crc32: 0,
    compressedSize: narrow(size),
    uncompressedSize: narrow(size),
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

export const needsWideEnd = (count: number, size: number, offset: number): boolean =>
  count >= full16 || isWide(size) || isWide(offset)

/** The numbers of the end record, where its fields are too small for them. */
export function wideEnd(count: number, size: number, offset: number, versionMadeBy = unix + 45): Uint8Array {
  const record = zip64End.write({
    signature: signatures.zip64End,
    recordSize: BigInt(zip64End.size - 12),
    versionMadeBy,
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

/** `size` is that of the central directory, `offset` where it begins. */
export function endBytes(count: number, size: number, offset: number, comment: Uint8Array): Uint8Array {
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
  return joinBytes([end, comment])
}

export const zip64Length = (numbers: number): number => (numbers === 0 ? 0 : 4 + 8 * numbers)

export function zip64Field(numbers: readonly number[]): Uint8Array {
  const field = new Uint8Array(zip64Length(numbers.length))
  if (numbers.length === 0) return field
  const view = new DataView(field.buffer)
  view.setUint16(0, zip64ExtraId, true)
  view.setUint16(2, 8 * numbers.length, true)
  for (const [i, number] of numbers.entries()) view.setBigUint64(4 + 8 * i, BigInt(number), true)
  return field
}
