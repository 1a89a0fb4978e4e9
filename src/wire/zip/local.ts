// What lies around a member's data: the local header before it, and behind it, when the writer did not know the size beforehand, a
// descriptor. Both repeat what the directory says. Where they disagree, one reader sees another file than the next, so every
// difference is an error.
import { type ByteSource, Cursor } from '../../bytes/index.js'
import type { Range } from '../../bytes/ranges.js'
import { zipCodes as codes } from './codes.js'
import type { ZipEntry } from './directory.js'
import type { ZipContext } from './end.js'
import { findExtra, flagBits, full32, hasFlag, localHeader, methods, signatures, zip64ExtraId } from './structs.js'

export interface ZipMember extends Omit<ZipEntry, 'rawName'> {
  /** Where its data start in the file. */
  readonly dataOffset: number
}

/** The longest descriptor: signature, checksum and two sizes of 64 bits. */
const maxDescriptor = 24
/** Room for typical extra fields; longer ones take a second read. */
const expectedExtra = 128
const parallelReads = 16
/** Headers no further apart than this are fetched together, up to so many bytes. */
const closeHeaders = 1 << 12
const maxRead = 1 << 18

/**
 * Reads all local headers, in the order of the file. `limit` is where the directory begins. Members whose header is bad are reported and left
 * out. Reading ends at the first two members that share bytes: otherwise a few bytes could stand for any number of members, each of which
 * unfolds a thousandfold. Members that lie side by side hold no more than deflate can make of the file.
 */
export async function readLocals(
  source: ByteSource,
  entries: readonly ZipEntry[],
  limit: number,
  context: ZipContext,
): Promise<ZipMember[]> {
  const reads = readsFor(entries, limit)
  const members = new Map<ZipEntry, ZipMember>()
  let previous: { readonly entry: ZipEntry; readonly member: ZipMember } | undefined
  for (let first = 0; first < reads.length; first += parallelReads) {
    const batch = reads.slice(first, first + parallelReads)
    const windows = await Promise.all(batch.map((read) => readHeaders(source, read, limit, context)))
    for (const [i, window] of windows.entries()) {
      for (const entry of batch[i]!.entries) {
        const member = readLocal(window, entry, limit, context)
        if (!member) continue
        if (previous && endOf(previous.member) > member.headerOffset) {
          refuseOverlap(previous.member, member, context)
          members.delete(previous.entry)
        } else checkBetween(previous?.member, member.headerOffset, window, context)
        members.set(entry, member)
        previous = { entry, member }
      }
    }
  }
  if (previous) {
    const start = Math.max(0, limit - maxDescriptor)
    const bytes = await source.read(start, limit - start, { signal: context.signal })
    checkBetween(previous.member, limit, { bytes, start }, context)
  }
  return entries.flatMap((entry) => members.get(entry) ?? [])
}

const endOf = ({ dataOffset, storedSize }: ZipMember): number => dataOffset + storedSize

/** Gives up; when salvaging, the member that runs into the next one is left out instead. */
function refuseOverlap(member: ZipMember, next: ZipMember, { report, onLost }: ZipContext): void {
  const [end, { headerOffset: offset, path }] = [endOf(member), next]
  const message = `its header is at ${offset}, but ${member.path} ends at ${end}`
  const place = { offset, length: end - offset, path, message }
  if (!onLost) report.fail(codes.overlap, place)
  report.report(codes.overlap, place)
  onLost?.(member, `it shares bytes with ${path}`)
}

/** Bytes of the file from `start` on. */
interface Window {
  readonly bytes: Uint8Array
  readonly start: number
}

/** Local headers that are fetched in one read. */
interface HeaderRead extends Range {
  end: number
  readonly entries: ZipEntry[]
}

/** Each header, from where a descriptor of the member before it may begin; small members share a read. */
function readsFor(entries: readonly ZipEntry[], limit: number): HeaderRead[] {
  const reads: HeaderRead[] = []
  for (const entry of entries.toSorted((a, b) => a.headerOffset - b.headerOffset)) {
    const start = Math.max(0, entry.headerOffset - maxDescriptor)
    const end = Math.min(limit, entry.headerOffset + localHeader.size + entry.rawName.byteLength + expectedExtra)
    const last = reads.at(-1)
    if (last && start - last.end <= closeHeaders && end - last.start <= maxRead) {
      last.end = Math.max(last.end, end)
      last.entries.push(entry)
    } else reads.push({ start, end, entries: [entry] })
  }
  return reads
}

async function readHeaders(
  source: ByteSource,
  { start, end, entries }: HeaderRead,
  limit: number,
  context: ZipContext,
): Promise<Window> {
  const read = async (to: number): Promise<Window> => ({
    start,
    bytes: await source.read(start, to - start, { signal: context.signal }),
  })
  const window = await read(end)
  const last = entries.at(-1)!
  const at = last.headerOffset - start
  if (window.bytes.byteLength < at + localHeader.size) return window
  const { buffer, byteOffset } = window.bytes
  const extra = new DataView(buffer, byteOffset + at).getUint16(localHeader.offsetOf('extraLength'), true)
  const whole = last.headerOffset + localHeader.size + last.rawName.byteLength + extra
  return whole > end && end < limit ? read(Math.min(whole, limit)) : window
}

function readLocal(window: Window, entry: ZipEntry, limit: number, context: ZipContext): ZipMember | undefined {
  const { report, extents } = context
  const { headerOffset, path, rawName } = entry
  const refuse = (message: string): undefined => {
    report.report(codes.local, { offset: headerOffset, path, message })
  }
  const cursor = new Cursor(window.bytes, report, { base: window.start, extents, path: [path] })
  cursor.seek(headerOffset)
  if (cursor.remaining < localHeader.size) return refuse('the directory begins inside its local header')
  const signature = cursor.view.getUint32(cursor.position, true)
  if (signature !== signatures.local) return refuse('there is no local header where the directory says')
  const local = localHeader.read(cursor)
  if (local.nameLength + local.extraLength > cursor.remaining) return refuse('its local header runs past the directory')
  const differs = (field: string, here: string | number, there: string | number): void =>
    report.report(codes['local-differs'], {
      offset: headerOffset,
      path: `${path}.${field}`,
      message: `the local header says ${here}, the directory ${there}`,
    })
  const name = cursor.raw(local.nameLength, 'name')
  const extra = cursor.raw(local.extraLength, 'extra')
  if (name.byteLength !== rawName.byteLength || name.some((byte, i) => byte !== rawName[i]))
    differs('name', 'another name', JSON.stringify(entry.name))
  const method = entry.isDeflated ? methods.deflated : methods.stored
  if (local.method !== method) differs('method', local.method, method)
  if (Object.values(flagBits).some((bit) => hasFlag(local.flags, bit) !== hasFlag(entry.flags, bit)))
    differs('flags', local.flags, entry.flags)
  const [storedSize, size] = localSizes(local, extra)
  // With a descriptor the three may be left at zero here.
  const mayBeZero = hasFlag(entry.flags, flagBits.descriptor)
  for (const [field, here, there] of [
    ['crc32', local.crc32, entry.crc32],
    ['compressed_size', storedSize, entry.storedSize],
    ['uncompressed_size', size, entry.size],
  ] as const) {
    if (here !== there && !(mayBeZero && here === 0)) differs(field, here, there)
  }
  const dataOffset = cursor.offset
  if (dataOffset + entry.storedSize > limit) {
    const message = `it would end at ${dataOffset + entry.storedSize}, the directory begins at ${limit}`
    report.report(codes['past-end'], { offset: headerOffset, path, message })
    return undefined
  }
  return memberAt(entry, dataOffset)
}

/**
 * Without the name as bytes, which would keep the whole directory in memory. Field by field: engines give an object that is made by a spread
 * with a field behind it a hidden class of its own, which is three times as large as the object.
 */
function memberAt(entry: ZipEntry, dataOffset: number): ZipMember {
  const { name, isDeflated, flags, crc32, storedSize, size, headerOffset, entryOffset, path } = entry
  return { name, isDeflated, flags, crc32, storedSize, size, headerOffset, entryOffset, path, dataOffset }
}

/** Compressed and uncompressed size; both are in the zip64 field when one does not fit. */
export function localSizes(
  { compressedSize, uncompressedSize }: { compressedSize: number; uncompressedSize: number },
  extra: Uint8Array,
): [number, number] {
  const field = findExtra(extra, zip64ExtraId)
  if (!field || field.byteLength < 16) return [compressedSize, uncompressedSize]
  const view = new DataView(field.buffer, field.byteOffset, field.byteLength)
  return [
    compressedSize === full32 ? Number(view.getBigUint64(8, true)) : compressedSize,
    uncompressedSize === full32 ? Number(view.getBigUint64(0, true)) : uncompressedSize,
  ]
}

/** Checks the bytes from the end of one member's data to the beginning of the next, which `window` holds at its start. */
function checkBetween(member: ZipMember | undefined, next: number, window: Window, context: ZipContext): void {
  if (!member) return
  const { report } = context
  const end = endOf(member)
  const taken = hasFlag(member.flags, flagBits.descriptor) ? readDescriptor(member, end, next, window, context) : 0
  if (end + taken === next) return
  const message = `${next - end - taken} bytes after it belong to no member`
  report.report(codes.gap, { offset: end + taken, length: next - end - taken, path: member.path, message })
}

/** The descriptor's length. Its signature may be missing, and its sizes have 32 or 64 bits: whichever of the four forms fits the gap. */
function readDescriptor(member: ZipMember, at: number, next: number, window: Window, context: ZipContext): number {
  const { report, extents } = context
  const length = next - at
  const path = `${member.path}.descriptor`
  if (![12, 16, 20, 24].includes(length) || at < window.start) {
    report.report(codes.descriptor, {
      offset: at,
      path,
      message: `a descriptor was expected, ${length} bytes are here`,
    })
    return at < window.start ? 0 : length
  }
  const cursor = new Cursor(window.bytes, report, { base: window.start, extents, path: [path] })
  cursor.seek(at)
  const hasSignature = length === 16 || length === 24
  if (hasSignature && cursor.u32('signature') !== signatures.descriptor)
    report.report(codes.descriptor, { offset: at, path, message: 'its signature is wrong' })
  const isWide = length >= 20
  const crc32 = cursor.u32('crc32')
  const storedSize = isWide ? Number(cursor.u64('compressed_size')) : cursor.u32('compressed_size')
  const size = isWide ? Number(cursor.u64('uncompressed_size')) : cursor.u32('uncompressed_size')
  if (crc32 !== member.crc32 || storedSize !== member.storedSize || size !== member.size) {
    const message = `it says checksum ${crc32}, sizes ${storedSize} and ${size}; the directory says ${member.crc32}, ${member.storedSize}, ${member.size}`
    report.report(codes.descriptor, { offset: at, path, message })
  }
  return length
}
