// Finding the central directory. A zip archive is read from its end: the end record lies in the last 64 KiB, followed only by the
// archive's comment, and says where the directory is. In large archives a zip64 end record and a locator come before it.
import { type ByteSource, Cursor, type ExtentRecorder, toSafe } from '../../bytes/index.js'
import { neededSize, type Report } from '../../errors/index.js'
import { zipCodes as codes } from './codes.js'
import { endRecord, full16, full32, signatures, zip64End, zip64Locator } from './structs.js'

export interface ZipContext {
  readonly report: Report
  readonly extents?: ExtentRecorder | undefined
  readonly signal?: AbortSignal | undefined
  /** How many bytes of central directory may be read into memory. */
  readonly maxDirectory: number
  /** Set where every read is a request: the local header of a member whose data begin on a multiple of this is read when its data are. */
  readonly alignment?: number | undefined
  /**
   * Present when salvaging: an archive without its directory is then read as far as it goes. It is told about members that are not whole,
   * undefined where not even their names are left.
   */
  readonly onLost?:
    | ((member: { readonly name: string; readonly size: number } | undefined, reason: string) => void)
    | undefined
}

export interface DirectoryPlace {
  readonly offset: number
  readonly size: number
  /** What the end record announces. */
  readonly entries: number
  /** Bytes before the archive: every offset in it counts from there. */
  readonly prefix: number
  /** What follows the end record. */
  readonly comment: Uint8Array
}

export const maxComment = 0xffff

export async function findDirectory(source: ByteSource, context: ZipContext): Promise<DirectoryPlace> {
  const { report, signal } = context
  const length = Math.min(source.size, endRecord.size + maxComment)
  const tail = new Tail(await source.read(source.size - length, length, { signal }), source.size - length)
  const offset = chooseEnd(tail, source.size, context) ?? (await refuseEndless(source, context))
  const cursor = new Cursor(tail.bytes, report, { base: tail.base, extents: context.extents, path: ['end'] })
  cursor.seek(offset)
  const end = endRecord.read(cursor)
  const comment = cursor.raw(Math.min(end.commentLength, cursor.remaining), 'comment')
  if (end.disk !== 0 && end.disk !== full16)
    report.fail(codes.disks, { offset, path: 'end.disk', message: `this is part ${end.disk + 1}` })
  const wide = await readZip64(source, offset, context)
  const [entries, size, stated] = [
    pick(end.entries, full16, wide?.entries, 'entries'),
    pick(end.directorySize, full32, wide?.directorySize, 'directory_size'),
    pick(end.directoryOffset, full32, wide?.directoryOffset, 'directory_offset'),
  ]
  // The directory ends where the end records begin. If that is not where the end record says, bytes were put before the archive.
  const directory = (wide?.at ?? offset) - size
  const prefix = directory - stated
  if (directory < 0 || prefix < 0) {
    const message = `a directory of ${size} bytes at ${stated} does not fit before ${wide?.at ?? offset}`
    report.fail(codes.directory, { offset, path: 'end.directory_offset', message })
  }
  if (prefix > 0)
    report.report(codes.prefix, { offset: 0, length: prefix, path: 'file', message: `${prefix} bytes come first` })
  if (wide && wide.statedAt !== BigInt(wide.at - prefix)) {
    const message = `the locator points to ${wide.statedAt}, the zip64 end record is at ${wide.at - prefix}`
    report.fail(codes.zip64, { offset: wide.at, path: 'zip64_locator.end_offset', message })
  }
  return { offset: directory, size, entries, prefix, comment }

  function pick(narrow: number, full: number, value: bigint | undefined, field: string): number {
    if (value === undefined) {
      if (narrow === full && full === full32)
        report.fail(codes.zip64, { offset, path: `end.${field}`, message: 'the zip64 end record is missing' })
      return narrow
    }
    if (narrow !== full && BigInt(narrow) !== value) {
      const message = `the end record says ${narrow}, its zip64 record ${value}`
      report.fail(codes.zip64, { offset, path: `end.${field}`, message })
    }
    return toSafe(value) ?? report.fail(codes.zip64, { offset, path: `end.${field}`, message: `${value} is too large` })
  }
}

/** The last bytes of the file. */
class Tail {
  readonly bytes: Uint8Array
  readonly base: number
  readonly #view: DataView

  constructor(bytes: Uint8Array, base: number) {
    this.bytes = bytes
    this.base = base
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Where end records could be, the last first, and how far their comments reach. */
  *ends(): Generator<{ offset: number; reach: number }, void, void> {
    for (let at = this.bytes.byteLength - endRecord.size; at >= 0; at--) {
      if (this.bytes[at] !== 0x50 || this.#view.getUint32(at, true) !== signatures.end) continue
      const comment = this.#view.getUint16(at + endRecord.offsetOf('commentLength'), true)
      yield { offset: this.base + at, reach: this.base + at + endRecord.size + comment }
    }
  }
}

/** An archive begins with the header of a member. If it does but has no end, the end was cut off. */
async function refuseEndless(source: ByteSource, { report, signal }: ZipContext): Promise<never> {
  const head = new Cursor(await source.read(0, Math.min(4, source.size), { signal }), report)
  const isCut = head.remaining === 4 && head.u32('signature') === signatures.local
  return report.fail(codes['no-end'], {
    offset: source.size,
    path: 'end',
    message: `no end record lies in the last 65,557 bytes${isCut ? '; the file was cut off' : ''}`,
    ...(isCut && { needs: source.size + endRecord.size, needsMore: true }),
  })
}

/** The end record whose comment reaches exactly to the end of the file; the last one when several do. Undefined if there is none. */
function chooseEnd(tail: Tail, size: number, { report }: ZipContext): number | undefined {
  const ends = [...tail.ends()]
  const fitting = ends.filter(({ reach }) => reach === size)
  const chosen = fitting[0] ?? ends[0]
  if (!chosen) return undefined
  const { offset, reach } = chosen
  if (reach > size) {
    const message = `the comment would end at ${reach}, the file ends at ${size}`
    report.fail(codes.comment, { offset, path: 'end.comment_length', message, ...neededSize(reach) })
  }
  if (reach < size) {
    const message = `${size - reach} bytes come after the archive`
    report.report(codes['trailing-bytes'], { offset: reach, length: size - reach, path: 'end', message })
  }
  if (ends.length > 1) {
    const others = ends.length === 2 ? 'another place looks' : `${ends.length - 1} other places look`
    report.report(codes['several-ends'], { offset, path: 'end', message: `${others} like an end record` })
  }
  return offset
}

interface WideEnd {
  readonly at: number
  /** Where the locator says that it is. */
  readonly statedAt: bigint
  readonly entries: bigint
  readonly directorySize: bigint
  readonly directoryOffset: bigint
}

async function readZip64(source: ByteSource, endAt: number, context: ZipContext): Promise<WideEnd | undefined> {
  const { report, extents, signal } = context
  const locatorAt = endAt - zip64Locator.size
  if (locatorAt < zip64End.size) return undefined
  const bytes = await source.read(locatorAt - zip64End.size, zip64End.size + zip64Locator.size, { signal })
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.getUint32(zip64End.size, true) !== signatures.zip64Locator) return undefined
  const cursor = new Cursor(bytes, report, { base: locatorAt - zip64End.size, extents, path: ['zip64_end'] })
  if (view.getUint32(0, true) !== signatures.zip64End) {
    const message = 'the record before the locator is not a zip64 end record'
    report.fail(codes.zip64, { offset: cursor.offset, path: 'zip64_end.signature', message })
  }
  const at = cursor.offset
  const record = zip64End.read(cursor)
  cursor.leave()
  cursor.enter('zip64_locator')
  const locator = zip64Locator.read(cursor)
  if (record.recordSize !== BigInt(zip64End.size - 12)) {
    const message = `${record.recordSize} bytes, but ${zip64End.size - 12} lie before the locator`
    report.fail(codes.zip64, { offset: at, path: 'zip64_end.record_size', message })
  }
  if (record.disk !== 0 || record.directoryDisk !== 0 || locator.disks > 1)
    report.fail(codes.disks, { offset: at, path: 'zip64_end.disk', message: `there are ${locator.disks} parts` })
  return { at, statedAt: locator.endOffset, ...record }
}
