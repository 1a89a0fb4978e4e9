// Writing zip archives the way miniz does it inside PyTorch, byte for byte: a member's checksum follows its data in a descriptor, so that
// nothing has to be patched, the data starts on a multiple of the alignment behind a field `FB` filled with Z, there are no times and no
// versions, an empty member has no descriptor, and the end records are those of zip64 whatever the size. Loaders of PyTorch compute where data
// lie from these rules alone.
import { alignUp, encodeUtf8, joinBytes } from '../../bytes/index.js'
import { endBytes, type Placed, wideEnd, zip64Field, zip64Length } from './headers.js'
import { memberPath } from './member.js'
import { centralEntry, flagBits, full32, localHeader, methods, signatures } from './structs.js'
import { bytesPiece, HeaderPiece, type NewMembers, withChecksum, type ZipPiece } from './write.js'

export interface StreamedArchive {
  /** Where the data of a member start. */
  dataOffset(index: number): number
  /** What goes before the data of member number `index`. */
  head(index: number): ZipPiece
  /** What goes after it. */
  foot(index: number): ZipPiece[]
  /** What goes after the last one. */
  tail(): Iterable<ZipPiece>
}

const paddingMark = 'FB'
const paddingByte = 0x5a
/** The mark and the length of the padding. */
const paddingHead = 4

/** The version of zip that miniz states in the end record, on Unix. */
const madeBy = 3 * 256 + 30

const isWide = (number: number): boolean => number >= full32

/** The numbers that the 32 bits of the headers cannot hold, which then are in a field of their own. */
function wideNumbers(size: number, headerOffset: number, storedSize = size): number[] {
  const sizes = isWide(size) ? [size, storedSize] : []
  return isWide(headerOffset) ? [...sizes, headerOffset] : sizes
}

/** Where the data start, for a header at `offset`. */
function dataStart(offset: number, nameLength: number, size: number, alignment: number): number {
  const wide = zip64Length(wideNumbers(size, offset).length)
  return alignUp(offset + localHeader.size + nameLength + wide + paddingHead, alignment)
}

function descriptorLength(size: number, headerOffset: number): number {
  if (size === 0) return 0
  return isWide(size) || isWide(headerOffset) ? 24 : 16
}

/** What is kept of a member is where it lies; its headers are made when they are written. */
export function layOutStreamed({ count, nameAt, sizeAt }: NewMembers, alignment: number): StreamedArchive {
  const headerOffsets = new Float64Array(count + 1)
  const dataOffsets = new Float64Array(count)
  const nameLengths = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    const size = sizeAt(i)
    const nameLength = encodeUtf8(nameAt(i)).byteLength
    nameLengths[i] = nameLength
    dataOffsets[i] = dataStart(headerOffsets[i]!, nameLength, size, alignment)
    headerOffsets[i + 1] = dataOffsets[i]! + size + descriptorLength(size, headerOffsets[i]!)
  }
  const placeAt = (i: number): Placed => ({
    name: nameAt(i),
    nameLength: nameLengths[i]!,
    size: sizeAt(i),
    headerOffset: headerOffsets[i]!,
    dataOffset: dataOffsets[i]!,
  })
  return {
    dataOffset: (i) => dataOffsets[i]!,
    head(i) {
      const place = placeAt(i)
      const path = `${memberPath(place.name)}.header`
      return new HeaderPiece(path, () => localBytes(place), 0, place.dataOffset - place.headerOffset)
    },
    foot: (i) => descriptor(placeAt(i)),
    tail: () => layOutTail(count, placeAt, headerOffsets[count]!),
  }
}

const flagsOf = (size: number): number => (size === 0 ? 0 : flagBits.descriptor) + flagBits.utf8

function localBytes({ name, nameLength, size, headerOffset, dataOffset }: Placed): Uint8Array {
  const bytes = new Uint8Array(dataOffset - headerOffset)
  const view = new DataView(bytes.buffer)
  // miniz has not counted the stored bytes yet when it writes this: the second of the sizes is 0.
  const wide = zip64Field(wideNumbers(size, headerOffset, 0))
  const paddingAt = localHeader.size + nameLength + wide.byteLength
  localHeader.writeInto(view, 0, {
    signature: signatures.local,
    versionNeeded: 0,
    flags: flagsOf(size),
    method: methods.stored,
    time: 0,
    date: 0,
    crc32: 0,
    compressedSize: 0,
    uncompressedSize: 0,
    nameLength,
    extraLength: bytes.byteLength - localHeader.size - nameLength,
  })
  bytes.set(encodeUtf8(name), localHeader.size)
  bytes.set(wide, localHeader.size + nameLength)
  bytes.fill(paddingByte, paddingAt)
  bytes.set(encodeUtf8(paddingMark), paddingAt)
  view.setUint16(paddingAt + 2, bytes.byteLength - paddingAt - paddingHead, true)
  return bytes
}

function descriptor(place: Placed): ZipPiece[] {
  const length = descriptorLength(place.size, place.headerOffset)
  if (length === 0) return []
  const path = `${memberPath(place.name)}.descriptor`
  return withChecksum(place, path, length, 4, () => descriptorBytes(place, length))
}

function descriptorBytes({ size }: Placed, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, signatures.descriptor, true)
  if (length === 24) for (const at of [8, 16]) view.setBigUint64(at, BigInt(size), true)
  else for (const at of [8, 12]) view.setUint32(at, size, true)
  return bytes
}

const centralLength = ({ nameLength, size, headerOffset }: Placed): number =>
  centralEntry.size + nameLength + zip64Length(wideNumbers(size, headerOffset).length)

function centralBytes({ name, nameLength, size, headerOffset }: Placed): Uint8Array {
  const extra = zip64Field(wideNumbers(size, headerOffset))
  const entry = centralEntry.write({
    signature: signatures.central,
    versionMadeBy: 0,
    versionNeeded: 0,
    flags: flagsOf(size),
    method: methods.stored,
    time: 0,
    date: 0,
    crc32: 0,
    compressedSize: Math.min(size, full32),
    uncompressedSize: Math.min(size, full32),
    nameLength,
    extraLength: extra.byteLength,
    commentLength: 0,
    disk: 0,
    internalAttributes: 0,
    externalAttributes: 0,
    localOffset: Math.min(headerOffset, full32),
  })
  return joinBytes([entry, encodeUtf8(name), extra])
}

function* layOutTail(
  count: number,
  placeAt: (index: number) => Placed,
  offset: number,
): Generator<ZipPiece, void, void> {
  const at = centralEntry.offsetOf('crc32')
  let size = 0
  for (let i = 0; i < count; i++) {
    const place = placeAt(i)
    const length = centralLength(place)
    yield* withChecksum(place, memberPath(place.name), length, at, () => centralBytes(place))
    size += length
  }
  yield bytesPiece('zip64_end', wideEnd(count, size, offset, madeBy))
  yield bytesPiece('end', endBytes(count, size, offset, new Uint8Array()))
}
