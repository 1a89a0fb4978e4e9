// An archive whose end was cut off has no directory any more, but each member still has its local header. Here these
// headers are followed from the beginning of the file. Nothing confirms what they say but the checksum of each member.
import { type ByteSource, Cursor, defaultWindow, toSafe } from '../../bytes/index.js'
import type { ZipContext } from './end.js'
import { wideSizes } from './local.js'
import { ZipMember } from './member.js'
import { decodeMemberName } from './name.js'
import { flagBits, hasFlag, isEncrypted, localHeader, methods, signatures } from './structs.js'

/** Room for a header with a typical name and extra field; longer ones take a second read. */
const firstRead = 512
/** The forms of a descriptor: with or without signature, sizes of 32 or 64 bits. */
const descriptorSizes = [16, 24, 12, 20]

/** Members whose data are all there, in the order of the file; the others are told to `onLost`. */
export async function scanMembers(source: ByteSource, context: ZipContext): Promise<ZipMember[]> {
  const members: ZipMember[] = []
  const names = new Set<string>()
  for (let at = 0; ; ) {
    const found = await readHead(source, at, context)
    if (!found) {
      if (!(await startsDirectory(source, at, context)))
        context.onLost?.(undefined, `everything after byte ${at}; the directory of the archive is cut off too`)
      return members
    }
    const { member, isReadable } = found
    const end = member.dataOffset + member.storedSize
    const isWhole = end <= source.size
    if (isWhole && isReadable && !names.has(member.name)) members.push(member)
    else
      context.onLost?.(
        member,
        isWhole ? 'it cannot be read' : `it would end at ${end}, the file ends at ${source.size}`,
      )
    names.add(member.name)
    if (!isWhole) {
      context.onLost?.(undefined, 'everything after it; the directory of the archive is cut off too')
      return members
    }
    at = hasFlag(member.flags, flagBits.descriptor) ? await behindDescriptor(source, end, context) : end
  }
}

/** Behind the last member comes the directory; where that begins, all members were met. */
async function startsDirectory(source: ByteSource, at: number, { signal }: ZipContext): Promise<boolean> {
  if (at + 4 > source.size) return false
  const bytes = await source.read(at, 4, { signal })
  return new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true) === signatures.central
}

interface Found {
  readonly member: ZipMember
  readonly isReadable: boolean
}

async function readHead(source: ByteSource, at: number, context: ZipContext): Promise<Found | undefined> {
  const { report, signal } = context
  const read = (length: number): Promise<Uint8Array> => source.read(at, Math.min(length, source.size - at), { signal })
  if (source.size - at < localHeader.size) return undefined
  let bytes = await read(firstRead)
  const fields = localHeader.read(new Cursor(bytes, report, { base: at }))
  if (fields.signature !== signatures.local) return undefined
  const length = localHeader.size + fields.nameLength + fields.extraLength
  if (at + length > source.size) return undefined
  if (length > bytes.byteLength) bytes = await read(length)
  const extra = bytes.subarray(localHeader.size + fields.nameLength, length)
  const name = decodeMemberName(bytes, localHeader.size, fields.nameLength, hasFlag(fields.flags, flagBits.utf8))
  const dataOffset = at + length
  const { storedSize, size } = wideSizes(fields, extra)
  const { flags, crc32, method } = fields
  const isOpen = hasFlag(flags, flagBits.descriptor) && storedSize === 0 && crc32 === 0
  const sums = isOpen ? await findDescriptor(source, dataOffset, context) : { storedSize, size, crc32 }
  const isDeflated = method === methods.deflated
  const isSound = isDeflated || (method === methods.stored && sums.size === sums.storedSize)
  const place = { headerOffset: at, entryOffset: at }
  const { nameLength } = fields
  const member = new ZipMember({ name: name ?? '', nameLength, isDeflated, flags, ...sums, ...place })
  member.dataOffset = dataOffset
  return { member, isReadable: name !== undefined && name !== '' && !isEncrypted(flags) && isSound }
}

interface Sums {
  readonly storedSize: number
  readonly size: number
  readonly crc32: number
}

/** Where the header leaves the sizes open, they stand behind the data: the first place that gives its own distance is taken. */
async function findDescriptor(source: ByteSource, start: number, { signal }: ZipContext): Promise<Sums> {
  const maxDescriptor = 24
  for (let at = start; at < source.size; at += defaultWindow) {
    const bytes = await source.read(at, Math.min(defaultWindow + maxDescriptor, source.size - at), { signal })
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const last = Math.min(defaultWindow, bytes.byteLength - 16)
    for (let i = bytes.indexOf(0x50); i >= 0 && i <= last; i = bytes.indexOf(0x50, i + 1)) {
      if (view.getUint32(i, true) !== signatures.descriptor) continue
      const crc32 = view.getUint32(i + 4, true)
      const distance = at + i - start
      if (i + maxDescriptor <= bytes.byteLength && toSafe(view.getBigUint64(i + 8, true)) === distance) {
        const size = toSafe(view.getBigUint64(i + 16, true))
        if (size !== undefined) return { storedSize: distance, size, crc32 }
      }
      if (view.getUint32(i + 8, true) === distance)
        return { storedSize: distance, size: view.getUint32(i + 12, true), crc32 }
    }
  }
  // The data run to the end of the file and, as nothing says otherwise, beyond it.
  const storedSize = source.size - start + 1
  return { storedSize, size: storedSize, crc32: 0 }
}

/** Where the next record begins; the end of the file when none does. */
async function behindDescriptor(source: ByteSource, at: number, { signal }: ZipContext): Promise<number> {
  const bytes = await source.read(at, Math.min(28, source.size - at), { signal })
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const isRecord = (i: number): boolean =>
    i + 4 <= bytes.byteLength && [signatures.local, signatures.central].some((each) => each === view.getUint32(i, true))
  const length = [0, ...descriptorSizes].find(isRecord)
  return length === undefined ? source.size : at + length
}
