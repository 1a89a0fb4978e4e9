// An HDF5 file as its parsers see it. Structures lie all over the file and refer to each other by address, so they are read through pages,
// a few of which are kept. What parsers ask for is counted: a file whose structures overlap cannot make them read it over and over.
import {
  type ByteSource,
  Cursor,
  type ExtentRecorder,
  inOrder,
  overlaps,
  type Range,
  sizeAt,
} from '../../bytes/index.js'
import { PageReader } from '../../bytes/page-reader.js'
import { type Details, neededSize, type Report } from '../../errors/index.js'
import { hdf5Codes as codes } from './codes.js'
import { lookup3 } from './lookup3.js'

export interface Hdf5Context {
  readonly report: Report
  readonly extents?: ExtentRecorder | undefined
  readonly signal?: AbortSignal | undefined
  /** How many bytes of structures may be read. */
  readonly maxIndex: number
  /** How deep groups may be nested. */
  readonly maxDepth: number
  /** Where the file begins and how long it is, if it lies inside another one. */
  readonly within?: { readonly offset: number; readonly length: number } | undefined
  /** Present when salvaging: a file that is shorter than it states is read as far as it goes. */
  readonly onLost?: ((name: string | undefined, reason: string) => void) | undefined
}

/** Paths of a small file may be longer than it: many links can lead to one dataset. */
const minPaths = 1 << 22
/** A terabyte in chunks of a megabyte. */
const maxChunks = 1 << 20

interface Claim extends Range {
  readonly path: string
}

export class Hdf5File {
  readonly source: ByteSource
  readonly context: Hdf5Context
  /** Where address 0 is. */
  readonly base: number
  readonly size: number
  offsetSize = 8
  lengthSize = 8
  readonly #pages: PageReader
  readonly #claims: Claim[] = []
  #taken = 0
  #texts = 0
  #paths = 0
  #chunks = 0

  constructor(source: ByteSource, context: Hdf5Context) {
    this.source = source
    this.context = context
    this.base = context.within?.offset ?? 0
    this.size = context.within?.length ?? source.size
    this.#pages = new PageReader(source, this.base, this.size, context.signal)
  }

  get report(): Report {
    return this.context.report
  }

  /** Where an address is in the file; with the length, it must lie inside. */
  place(address: number, length: number, details: Omit<Details, 'message'>): number {
    if (address + length > this.size) {
      const message = `bytes ${address} to ${address + length} are named, the file has ${this.size}`
      const needs = this.context.within ? {} : neededSize(address + length)
      this.report.fail(codes.outside, { ...details, message, ...needs })
    }
    return this.base + address
  }

  /** Bytes of a structure at an address. */
  async bytes(address: number, length: number, path: string): Promise<Uint8Array> {
    const start = this.place(address, length, { offset: this.base + Math.min(address, this.size), path })
    this.#taken += length
    if (this.#taken > this.context.maxIndex) {
      const message = `structures of more than ${this.context.maxIndex} bytes`
      this.report.fail(codes.index, { offset: start, path, message })
    }
    return this.#pages.read(address, length)
  }

  /** A structure as fields; it is entered into the byte map, and no other may have these bytes. */
  async cursor(address: number, length: number, path: string): Promise<Cursor> {
    const bytes = await this.bytes(address, length, path)
    this.claim(address, length, path)
    const { report, extents } = this.context
    return new Cursor(bytes, report, { base: this.base + address, extents, path: [path] })
  }

  claim(address: number, length: number, path: string): void {
    this.#claims.push({ start: this.base + address, end: this.base + address + length, path })
  }

  /** Reports what lies on top of something else. */
  checkOverlaps(): void {
    for (const [before, range] of overlaps(inOrder(this.#claims))) {
      const details = { offset: range.start, length: range.end - range.start, path: range.path }
      this.report.report(codes.overlap, { ...details, message: `it lies on ${before.path}` })
    }
  }

  /** An honest file has every text once, so all texts together are not longer than it. */
  takeText(length: number, offset: number, path: string): void {
    this.#texts += length
    if (this.#texts <= this.size) return
    this.report.fail(codes.index, { offset, path, message: 'the texts of attributes are longer than the file' })
  }

  /** Objects and attributes have the names of all groups around them in theirs, so that few bytes could make very long ones. */
  takePath(names: readonly string[], count: number, offset: number): void {
    for (const name of names) this.#paths += count * (name.length + 1)
    if (this.#paths <= Math.max(this.size, minPaths)) return
    const message = 'the paths of all objects are longer than the file'
    this.report.fail(codes.index, { offset, path: 'objects', message })
  }

  /** Chunks can be listed without taking any bytes. */
  takeChunks(count: number, offset: number, path: string): void {
    this.#chunks += count
    if (this.#chunks <= maxChunks) return
    const message = `the datasets have more than ${maxChunks} chunks; write the file again with larger ones`
    this.report.fail(codes.index, { offset, path, message })
  }

  /** An address; undefined where the file says that there is none. */
  address(cursor: Cursor, field: string): number | undefined {
    const { offset } = cursor
    const bytes = cursor.raw(this.offsetSize, field, (raw) => shown(raw))
    if (bytes.every((byte) => byte === 0xff)) return undefined
    return numberIn(bytes) ?? this.#tooLarge(offset, cursor.pathOf(field))
  }

  /** An address that must be there. */
  neededAddress(cursor: Cursor, field: string): number {
    const { offset } = cursor
    const path = cursor.pathOf(field)
    return (
      this.address(cursor, field) ?? this.report.fail(codes.outside, { offset, path, message: 'there is no address' })
    )
  }

  length(cursor: Cursor, field: string, width: number = this.lengthSize): number {
    const { offset } = cursor
    const bytes = cursor.raw(width, field, (raw) => shown(raw))
    return numberIn(bytes) ?? this.#tooLarge(offset, cursor.pathOf(field))
  }

  #tooLarge(offset: number, path: string): never {
    return this.report.fail(codes.outside, { offset, path, message: 'the number is more than any file can hold' })
  }

  /** Structures begin with four letters. */
  signature(cursor: Cursor, letters: string): void {
    const { offset } = cursor
    const found = String.fromCharCode(...cursor.raw(4, 'signature', (bytes) => String.fromCharCode(...bytes)))
    if (found === letters) return
    const message = `${letters} was expected, ${JSON.stringify(found)} is there`
    this.report.fail(codes.structure, { offset, length: 4, path: cursor.pathOf('signature'), message })
  }

  version(cursor: Cursor, known: readonly number[], field = 'version'): number {
    const { offset } = cursor
    const version = cursor.u8(field)
    if (known.includes(version)) return version
    const message = `version ${version}, known are ${known.join(', ')}`
    return this.report.fail(codes.version, { offset, length: 1, path: cursor.pathOf(field), message })
  }

  /** The checksum over everything before it. */
  checksum(cursor: Cursor): void {
    const { offset, position } = cursor
    const stated = cursor.u32('checksum')
    const found = lookup3(cursor.bytes.subarray(0, position))
    if (found === stated) return
    const message = `it states ${stated.toString(16)}, its bytes have ${found.toString(16)}`
    this.report.fail(codes.checksum, { offset, length: 4, path: cursor.pathOf('checksum'), message })
  }
}

/** A little-endian number of up to 8 bytes; undefined beyond 2^53-1. */
export function numberIn(bytes: Uint8Array): number | undefined {
  const wide = new Uint8Array(8)
  wide.set(bytes)
  return sizeAt(new DataView(wide.buffer), 0)
}

const shown = (bytes: Uint8Array): string | number =>
  bytes.every((byte) => byte === 0xff) ? 'none' : (numberIn(bytes) ?? 'too large')
