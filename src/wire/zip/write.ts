// Writing zip archives: members stored as they are, each starting on a multiple of the alignment, no times, so that the same input gives
// the same bytes. Checksums are left open: where one belongs, a piece says which bytes of the file it covers.
import { encodeUtf8 } from '../../bytes/index.js'
import {
  centralBytes,
  centralLength,
  endBytes,
  localBytes,
  localExtraLength,
  needsWideEnd,
  type Placed,
  wideEnd,
} from './headers.js'
import { memberPath } from './member.js'
import { centralEntry, localHeader } from './structs.js'

/** The members are not held in a list: each is asked for its name and size when they are needed. */
export interface NewMembers {
  readonly count: number
  nameAt(index: number): string
  sizeAt(index: number): number
}

/** Bytes, or the place of a CRC-32 (little-endian) over a range of the file. Bytes are made when they are asked for. */
export type ZipPiece =
  | { readonly kind: 'bytes'; readonly path: string; readonly length: number; readonly bytes: Uint8Array }
  | { readonly kind: 'crc32'; readonly path: string; readonly covers: readonly [start: number, end: number] }

export const bytesPiece = (path: string, bytes: Uint8Array): ZipPiece => ({
  kind: 'bytes',
  path,
  length: bytes.byteLength,
  bytes,
})

export interface NewArchive {
  /** What goes before the data of member number `index`. */
  head(index: number): ZipPiece[]
  /** What goes after the last one: the central directory and the end records. */
  tail(): Iterable<ZipPiece>
}

/** What is kept of a member is where it lies; its headers are made when they are written. `comment` follows everything else. */
export function layOutZip(
  { count, nameAt, sizeAt }: NewMembers,
  alignment: number,
  comment: Uint8Array = new Uint8Array(),
): NewArchive {
  const headerOffsets = new Float64Array(count + 1)
  const dataOffsets = new Float64Array(count)
  const nameLengths = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    const size = sizeAt(i)
    const nameLength = encodeUtf8(nameAt(i)).byteLength
    const extraAt = headerOffsets[i]! + localHeader.size + nameLength
    nameLengths[i] = nameLength
    dataOffsets[i] = extraAt + localExtraLength(size, extraAt, alignment)
    headerOffsets[i + 1] = dataOffsets[i]! + size
  }
  const placeAt = (i: number): Placed => ({
    name: nameAt(i),
    nameLength: nameLengths[i]!,
    size: headerOffsets[i + 1]! - dataOffsets[i]!,
    headerOffset: headerOffsets[i]!,
    dataOffset: dataOffsets[i]!,
  })
  return {
    head(i) {
      const place = placeAt(i)
      const length = place.dataOffset - place.headerOffset
      const at = localHeader.offsetOf('crc32')
      return withChecksum(place, memberPath(place.name), length, at, () => localBytes(place, alignment))
    },
    tail: () => layOutTail(count, placeAt, headerOffsets[count]!, comment),
  }
}

/** A part of a header, which is made when the first of its parts is asked for. */
export class HeaderPiece {
  readonly kind = 'bytes'
  readonly path: string
  readonly length: number
  readonly #header: () => Uint8Array
  readonly #start: number

  constructor(path: string, header: () => Uint8Array, start: number, end: number) {
    this.path = path
    this.length = end - start
    this.#header = header
    this.#start = start
  }

  get bytes(): Uint8Array {
    return this.#header().subarray(this.#start, this.#start + this.length)
  }
}

/** A header at `path` as the pieces around the checksum of its member, which is at `at`. */
export function withChecksum(
  { name, dataOffset, size }: Placed,
  path: string,
  length: number,
  at: number,
  make: () => Uint8Array,
): ZipPiece[] {
  let made: Uint8Array | undefined
  const header = (): Uint8Array => {
    made ??= make()
    return made
  }
  return [
    new HeaderPiece(path, header, 0, at),
    { kind: 'crc32', path: `${memberPath(name)}.crc32`, covers: [dataOffset, dataOffset + size] },
    new HeaderPiece(path, header, at + 4, length),
  ]
}

function* layOutTail(
  count: number,
  placeAt: (index: number) => Placed,
  offset: number,
  comment: Uint8Array,
): Generator<ZipPiece, void, void> {
  const at = centralEntry.offsetOf('crc32')
  let size = 0
  for (let i = 0; i < count; i++) {
    const place = placeAt(i)
    const length = centralLength(place)
    yield* withChecksum(place, memberPath(place.name), length, at, () => centralBytes(place))
    size += length
  }
  if (needsWideEnd(count, size, offset)) yield bytesPiece('zip64_end', wideEnd(count, size, offset))
  yield bytesPiece('end', endBytes(count, size, offset, comment))
}
