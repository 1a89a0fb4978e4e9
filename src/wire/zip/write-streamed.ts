// Writing zip archives the way miniz does it inside PyTorch, byte for byte: a member's checksum follows its data in a descriptor, so that
// nothing has to be patched, the data starts on a multiple of the alignment behind a field `FB` filled with Z, there are no times and no
// versions, an empty member has no descriptor, and the end records are those of zip64 whatever the size. Loaders of PyTorch compute where data
// lie from these rules alone.
import { alignUp, encodeUtf8, joinBytes } from '../../bytes/index.js'
import { endBytes, wideEnd, zip64Field, zip64Length } from './headers.js'
import { centralEntry, flagBits, full32, localHeader, methods, signatures } from './structs.js'
import type { NewMembers, ZipPiece } from './write.js'

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

/** What is kept of a member is where it lies; everything else is made when it is written. */
export function layOutStreamed({ count, nameAt, sizeAt }: NewMembers, alignment: number): StreamedArchive {
  const headerOffsets = new Float64Array(count + 1)
  const dataOffsets = new Float64Array(count)
  for (let i = 0; i < count; i++) {
    const size = sizeAt(i)
    const nameLength = encodeUtf8(nameAt(i)).byteLength
    dataOffsets[i] = dataStart(headerOffsets[i]!, nameLength, size, alignment)
    headerOffsets[i + 1] = dataOffsets[i]! + size + descriptorLength(size, headerOffsets[i]!)
  }
  const memberAt = (i: number): Member => ({
    name: encodeUtf8(nameAt(i)),
    path: `members[${JSON.stringify(nameAt(i))}]`,
    size: sizeAt(i),
    headerOffset: headerOffsets[i]!,
    dataOffset: dataOffsets[i]!,
  })
  return {
    dataOffset: (i) => dataOffsets[i]!,
    head: (i) => bytesPiece(`${nameOf(nameAt(i))}.header`, localBytes(memberAt(i))),
    foot: (i) => descriptor(memberAt(i)),
    tail: () => layOutTail(count, memberAt, headerOffsets[count]!),
  }
}

const nameOf = (name: string): string => `members[${JSON.stringify(name)}]`

interface Member {
  readonly name: Uint8Array
  readonly path: string
  readonly size: number
  readonly headerOffset: number
  readonly dataOffset: number
}

const bytesPiece = (path: string, bytes: Uint8Array): ZipPiece => ({
  kind: 'bytes',
  path,
  length: bytes.byteLength,
  bytes,
})

const checksum = ({ path, dataOffset, size }: Member): ZipPiece => ({
  kind: 'crc32',
  path: `${path}.crc32`,
  covers: [dataOffset, dataOffset + size],
})

const flagsOf = (size: number): number => (size === 0 ? 0 : flagBits.descriptor) + flagBits.utf8

function localBytes({ name, size, headerOffset, dataOffset }: Member): Uint8Array {
  const bytes = new Uint8Array(dataOffset - headerOffset)
  const view = new DataView(bytes.buffer)
  // miniz has not counted the stored bytes yet when it writes this: the second of the sizes is 0.
  const wide = zip64Field(wideNumbers(size, headerOffset, 0))
  const paddingAt = localHeader.size + name.byteLength + wide.byteLength
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
    nameLength: name.byteLength,
    extraLength: bytes.byteLength - localHeader.size - name.byteLength,
  })
  bytes.set(name, localHeader.size)
  bytes.set(wide, localHeader.size + name.byteLength)
  bytes.fill(paddingByte, paddingAt)
  bytes.set(encodeUtf8(paddingMark), paddingAt)
  view.setUint16(paddingAt + 2, bytes.byteLength - paddingAt - paddingHead, true)
  return bytes
}

function descriptor(member: Member): ZipPiece[] {
  const { path, size, headerOffset } = member
  const length = descriptorLength(size, headerOffset)
  if (length === 0) return []
  const start = new Uint8Array(4)
  new DataView(start.buffer).setUint32(0, signatures.descriptor, true)
  const sizes = new Uint8Array(length - 8)
  const view = new DataView(sizes.buffer)
  if (length === 24) for (const at of [0, 8]) view.setBigUint64(at, BigInt(size), true)
  else for (const at of [0, 4]) view.setUint32(at, size, true)
  return [bytesPiece(`${path}.descriptor`, start), checksum(member), bytesPiece(`${path}.descriptor`, sizes)]
}

function centralBytes({ name, size, headerOffset }: Member): Uint8Array {
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
    nameLength: name.byteLength,
    extraLength: extra.byteLength,
    commentLength: 0,
    disk: 0,
    internalAttributes: 0,
    externalAttributes: 0,
    localOffset: Math.min(headerOffset, full32),
  })
  return joinBytes([entry, name, extra])
}

function* layOutTail(
  count: number,
  memberAt: (index: number) => Member,
  offset: number,
): Generator<ZipPiece, void, void> {
  const at = centralEntry.offsetOf('crc32')
  let size = 0
  for (let i = 0; i < count; i++) {
    const member = memberAt(i)
    const bytes = centralBytes(member)
    const { path } = member
    yield bytesPiece(path, bytes.subarray(0, at))
    yield checksum(member)
    yield bytesPiece(path, bytes.subarray(at + 4))
    size += bytes.byteLength
  }
  yield bytesPiece('zip64_end', wideEnd(count, size, offset, madeBy))
  yield bytesPiece('end', endBytes(count, size, offset, new Uint8Array()))
}
