// What lies around a member's data: the local header before it, and behind it, when the writer did not know the size beforehand, a
// descriptor. Both repeat what the directory says. Where they disagree, one reader sees another file than the next, so every
// difference is an error.
import { type ByteSource, Cursor } from '../../bytes/index.js'
import type { Range } from '../../bytes/ranges.js'
import { ReadBuffers } from '../../bytes/read-buffers.js'
import { zipCodes as codes } from './codes.js'
import type { PassedOver } from './confirm.js'
import type { Directory } from './directory.js'
import type { ZipContext } from './end.js'
import { inferPlaces } from './infer.js'
import type { ZipMember } from './member.js'
import {
  centralEntry,
  type Descriptor,
  descriptors,
  findExtra,
  flagBits,
  full32,
  hasFlag,
  hasSignature,
  type LocalFields,
  localFields,
  localHeader,
  methods,
  signatures,
  zip64ExtraId,
} from './structs.js'

/** The longest descriptor: signature, checksum and two sizes of 64 bits. */
const maxDescriptor = 24
/** Room for typical extra fields; longer ones take a second read. */
const expectedExtra = 128
const parallelReads = 16
/** Headers no further apart than this are fetched together, up to a maximum. */
const closeHeaders = 1 << 12
const maxRead = 1 << 18

export interface Locals {
  /** In the order of the directory. */
  readonly members: readonly ZipMember[]
  /** Those whose headers were not read, if there are any. */
  readonly passedOver?: PassedOver
}

/**
 * Reads all local headers, in the order of the file; gives the members in the order of the directory. Those whose header is bad are reported
 * and left out. Reading ends at the first two members that share bytes: otherwise a few bytes could stand for any number of members, each of
 * which unfolds a thousandfold. Members that lie side by side hold no more than deflate can make of the file.
 */
export async function readLocals(source: ByteSource, directory: Directory, context: ZipContext): Promise<Locals> {
  const limit = directory.offset
  const all = directory.members.toSorted((a, b) => a.headerOffset - b.headerOffset)
  const passedOver = new Set(context.alignment === undefined ? [] : inferPlaces(all, limit, context.alignment))
  const members: ZipMember[] = []
  const drop = (member: ZipMember): void => {
    const { byName } = directory
    if (byName.get(member.name) === member) byName.set(member.name, undefined)
  }
  const add = (member: ZipMember, window?: Window): void => {
    const previous = members.at(-1)
    if (previous && endOf(previous) > member.headerOffset) {
      refuseOverlap(previous, member, context)
      drop(members.pop()!)
    } else if (window) checkBetween(previous, member.headerOffset, window, context)
    members.push(member)
  }
  const reads = readsFor(
    all.filter((member) => !passedOver.has(member)),
    limit,
  )
  let next = 0
  const addPassedOver = (before: number): void => {
    for (; next < all.length && all[next]!.headerOffset < before; next++)
      if (passedOver.has(all[next]!)) add(all[next]!)
  }
  const buffers = new ReadBuffers(source, context.signal)
  for (let first = 0; first < reads.length; first += parallelReads) {
    const batch = reads.slice(first, first + parallelReads)
    const windows = await Promise.all(
      batch.map((read, i) => readHeaders(read, limit, (start, end) => buffers.read(i, start, end - start))),
    )
    for (const [i, window] of windows.entries()) {
      for (const member of batch[i]!.members) {
        addPassedOver(member.headerOffset)
        if (readLocal(window, member, directory, context)) add(member, window)
        else drop(member)
      }
    }
  }
  addPassedOver(limit)
  const last = members.at(-1)
  if (last) {
    const start = Math.max(0, limit - maxDescriptor)
    const bytes = await source.read(start, limit - start, { signal: context.signal })
    checkBetween(last, limit, windowOf(bytes, start), context)
  }
  const unread = members.filter((member) => passedOver.has(member))
  const byEntry = members.sort((a, b) => a.entryOffset - b.entryOffset)
  if (unread.length === 0) return { members: byEntry }
  const confirm = async (member: ZipMember, ahead: number): Promise<void> => {
    const place = member.dataOffset
    const [read] = readsFor([member], limit)
    const options = { signal: context.signal, ahead }
    const window = await readHeaders(read!, limit, (start, end) => source.read(start, end - start, options))
    if (!readLocal(window, member, directory, context) || member.dataOffset === place) return
    const message = `its data begin at ${member.dataOffset}, but going by the directory at ${place}`
    context.report.fail(codes.gap, { offset: member.headerOffset, path: member.path, message })
  }
  return { members: byEntry, passedOver: { members: unread, confirm } }
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
  readonly view: DataView
  readonly start: number
}

const windowOf = (bytes: Uint8Array, start: number): Window => ({
  bytes,
  view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  start,
})

/** Members whose local headers are fetched in one read. */
interface HeaderRead extends Range {
  end: number
  readonly members: ZipMember[]
}

/** Each header, from where a descriptor of the member before it may begin; small members share a read. Members come in the order of the file. */
function readsFor(members: readonly ZipMember[], limit: number): HeaderRead[] {
  const reads: HeaderRead[] = []
  for (const member of members) {
    const start = Math.max(0, member.headerOffset - maxDescriptor)
    const end = Math.min(limit, member.headerOffset + localHeader.size + member.nameLength + expectedExtra)
    const last = reads.at(-1)
    if (last && start - last.end <= closeHeaders && end - last.start <= maxRead) {
      last.end = Math.max(last.end, end)
      last.members.push(member)
    } else reads.push({ start, end, members: [member] })
  }
  return reads
}

async function readHeaders(
  { start, end, members }: HeaderRead,
  limit: number,
  read: (start: number, end: number) => Promise<Uint8Array>,
): Promise<Window> {
  const window = windowOf(await read(start, end), start)
  const last = members.at(-1)!
  const at = last.headerOffset - start
  if (window.bytes.byteLength < at + localHeader.size) return window
  const extra = localHeader.get.extraLength(window.view, at)
  const whole = last.headerOffset + localHeader.size + last.nameLength + extra
  return whole > end && end < limit ? windowOf(await read(start, Math.min(whole, limit)), start) : window
}

/** Compares a local header with the directory, and notes where the data begin; false when the member cannot be read. */
function readLocal(window: Window, member: ZipMember, directory: Directory, context: ZipContext): boolean {
  const { bytes, view, start } = window
  const headerAt = member.headerOffset - start
  const nameAt = headerAt + localHeader.size
  if (nameAt > bytes.byteLength) return refuse(member, 'the directory begins inside its local header', context)
  const local = localFields(view, headerAt)
  if (local.signature !== signatures.local)
    return refuse(member, 'there is no local header where the directory says', context)
  if (context.extents) noteLocal(window, member, local, context)
  const extraAt = nameAt + local.nameLength
  const dataAt = extraAt + local.extraLength
  if (dataAt > bytes.byteLength) return refuse(member, 'its local header runs past the directory', context)
  if (local.nameLength !== member.nameLength || !hasSameName(window, nameAt, member, directory))
    reportDifference(member, 'name', 'another name', JSON.stringify(member.name), context)
  const method = member.isDeflated ? methods.deflated : methods.stored
  if (local.method !== method) reportDifference(member, 'method', local.method, method, context)
  const { flags } = member
  if (local.flags !== flags && Object.values(flagBits).some((bit) => hasFlag(local.flags, bit) !== hasFlag(flags, bit)))
    reportDifference(member, 'flags', local.flags, flags, context)
  const isWide = local.compressedSize === full32 || local.uncompressedSize === full32
  const { storedSize, size } = isWide
    ? wideSizes(local, bytes.subarray(extraAt, dataAt))
    : { storedSize: local.compressedSize, size: local.uncompressedSize }
  compareSums(member, 'crc32', local.crc32, member.crc32, context)
  compareSums(member, 'compressed_size', storedSize, member.storedSize, context)
  compareSums(member, 'uncompressed_size', size, member.size, context)
  member.dataOffset = start + dataAt
  if (endOf(member) <= directory.offset) return true
  const message = `it would end at ${endOf(member)}, the directory begins at ${directory.offset}`
  context.report.report(codes['past-end'], { offset: member.headerOffset, path: member.path, message })
  return false
}

function refuse({ headerOffset: offset, path }: ZipMember, message: string, { report }: ZipContext): false {
  report.report(codes.local, { offset, path, message })
  return false
}

/** With a descriptor, checksum and sizes may be left at zero in the local header. */
function compareSums(member: ZipMember, field: string, here: number, there: number, context: ZipContext): void {
  if (here === there || (here === 0 && hasFlag(member.flags, flagBits.descriptor))) return
  reportDifference(member, field, here, there, context)
}

function reportDifference(
  { headerOffset: offset, path }: ZipMember,
  field: string,
  here: string | number,
  there: string | number,
  { report }: ZipContext,
): void {
  const message = `the local header says ${here}, the directory ${there}`
  report.report(codes['local-differs'], { offset, path: `${path}.${field}`, message })
}

/** Whether the bytes of the name are those that the directory has. */
function hasSameName({ bytes }: Window, at: number, { entryOffset, nameLength }: ZipMember, directory: Directory) {
  const listedAt = entryOffset - directory.offset + centralEntry.size
  for (let i = 0; i < nameLength; i++) if (bytes[at + i] !== directory.bytes[listedAt + i]) return false
  return true
}

/** Goes over a local header for the byte map. */
function noteLocal({ bytes, start }: Window, member: ZipMember, local: LocalFields, context: ZipContext): void {
  const { report, extents } = context
  const cursor = new Cursor(bytes, report, { base: start, extents, path: [member.path] })
  cursor.seek(member.headerOffset)
  localHeader.read(cursor)
  if (local.nameLength + local.extraLength > cursor.remaining) return
  cursor.raw(local.nameLength, 'name')
  cursor.raw(local.extraLength, 'extra')
}

/** The sizes of a local header. Both are in the zip64 field when one does not fit. */
export function wideSizes(
  { compressedSize, uncompressedSize }: { readonly compressedSize: number; readonly uncompressedSize: number },
  extra: Uint8Array,
): { readonly storedSize: number; readonly size: number } {
  const field = findExtra(extra, zip64ExtraId)
  if (!field || field.byteLength < 16) return { storedSize: compressedSize, size: uncompressedSize }
  const view = new DataView(field.buffer, field.byteOffset, field.byteLength)
  return {
    storedSize: compressedSize === full32 ? Number(view.getBigUint64(8, true)) : compressedSize,
    size: uncompressedSize === full32 ? Number(view.getBigUint64(0, true)) : uncompressedSize,
  }
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
  const length = next - at
  const report = (message: string): void => {
    context.report.report(codes.descriptor, { offset: at, path: `${member.path}.descriptor`, message })
  }
  const form = descriptors.get(length)
  if (!form || at < window.start) {
    report(`a descriptor was expected, ${length} bytes are here`)
    return at < window.start ? 0 : length
  }
  if (context.extents) noteDescriptor(form, at, window, member, context)
  const { view } = window
  const { get } = form
  const from = at - window.start
  if (hasSignature(length) && view.getUint32(from, true) !== signatures.descriptor) report('its signature is wrong')
  const crc32 = get.crc32(view, from)
  const storedSize = Number(get.compressedSize(view, from))
  const size = Number(get.uncompressedSize(view, from))
  if (crc32 !== member.crc32 || storedSize !== member.storedSize || size !== member.size)
    report(
      `it says checksum ${crc32}, sizes ${storedSize} and ${size}; the directory says ${member.crc32}, ${member.storedSize}, ${member.size}`,
    )
  return length
}

/** Goes over a descriptor for the byte map. */
function noteDescriptor(
  form: Descriptor,
  at: number,
  { bytes, start }: Window,
  member: ZipMember,
  context: ZipContext,
) {
  const { report, extents } = context
  const cursor = new Cursor(bytes, report, { base: start, extents, path: [`${member.path}.descriptor`] })
  cursor.seek(at)
  form.read(cursor)
}
