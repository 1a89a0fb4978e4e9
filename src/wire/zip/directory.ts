// The central directory: one entry per member with its name, method, sizes, checksum and the place of its local header. Only this list
// counts; what lies in the file without being listed here does not exist.
import { type ByteSource, Cursor, toSafe } from '../../bytes/index.js'
import type { Code } from '../../errors/index.js'
import { zipCodes as codes } from './codes.js'
import { type DirectoryPlace, findDirectory, type ZipContext } from './end.js'
import { memberPath, ZipMember } from './member.js'
import { decodeMemberName, leadsElsewhere } from './name.js'
import {
  type CentralFields,
  centralEntry,
  centralFields,
  findExtra,
  flagBits,
  full32,
  hasFlag,
  isEncrypted,
  methods,
  signatures,
  zip64ExtraId,
} from './structs.js'

export interface Directory extends DirectoryPlace {
  readonly entries: number
  /** Without the places of their data. */
  readonly members: readonly ZipMember[]
  /** By name; undefined for those that were reported. Of members with the same name, which were reported too, it is the last. */
  readonly byName: Map<string, ZipMember | undefined>
  readonly hasRepeats: boolean
  /** The directory as it stands in the file. */
  readonly bytes: Uint8Array
}

/** Deflate spends at least one bit on 258 bytes, in blocks that cost a little more. */
const maxRatio = 1032

export async function readDirectory(source: ByteSource, context: ZipContext): Promise<Directory> {
  const { report, signal, maxDirectory } = context
  const place = await findDirectory(source, context)
  if (place.size > maxDirectory) {
    const message = `the directory takes ${place.size} bytes, the limit is ${maxDirectory}`
    report.fail(codes['directory-size'], { offset: place.offset, path: 'directory', message })
  }
  const bytes = await source.read(place.offset, place.size, { signal })
  const reader = new DirectoryReader(bytes, place, context)
  const members = reader.readAll()
  if (reader.count !== place.entries) {
    const message = `${place.entries} members are announced, ${reader.count} are listed`
    report.report(codes.count, { offset: place.offset, path: 'end.entries', message })
  }
  const { byName, hasRepeats } = reader
  return { ...place, members, byName, hasRepeats, bytes }
}

class DirectoryReader {
  count = 0
  hasRepeats = false
  readonly byName = new Map<string, ZipMember | undefined>()
  readonly #cursor: Cursor
  readonly #place: DirectoryPlace
  readonly #context: ZipContext

  constructor(bytes: Uint8Array, place: DirectoryPlace, context: ZipContext) {
    this.#cursor = new Cursor(bytes, context.report, { base: place.offset, extents: context.extents })
    this.#place = place
    this.#context = context
  }

  readAll(): ZipMember[] {
    const members: ZipMember[] = []
    while (this.#cursor.remaining > 0) {
      const member = this.#readEntry()
      this.count++
      if (member) members.push(member)
    }
    return members
  }

  /** Undefined for a member that was reported and cannot be read. */
  #readEntry(): ZipMember | undefined {
    const cursor = this.#cursor
    const { report } = this.#context
    const at = cursor.offset
    const own = (field: string): string => `directory[${this.count}].${field}`
    if (cursor.remaining < centralEntry.size)
      report.fail(codes.directory, {
        offset: at,
        path: own('signature'),
        message: 'the directory ends inside an entry',
      })
    const fields = centralFields(cursor.view, cursor.position)
    if (fields.signature !== signatures.central)
      report.fail(codes.directory, { offset: at, path: own('signature'), message: 'an entry was expected here' })
    const { nameLength, extraLength, commentLength, flags, crc32 } = fields
    const length = centralEntry.size + nameLength + extraLength + commentLength
    if (length > cursor.remaining)
      report.fail(codes.directory, {
        offset: at,
        path: own('name_length'),
        message: 'an entry runs past the directory',
      })
    const isUtf8 = hasFlag(flags, flagBits.utf8)
    const nameAt = cursor.position + centralEntry.size
    if (cursor.extents) this.#noteEntry(fields, isUtf8)
    else cursor.seek(at + length)
    const name = decodeMemberName(cursor.bytes, nameAt, nameLength, isUtf8)
    if (!this.#checkName(name, at)) return undefined
    const refuse = (code: Code, message: string): undefined => {
      this.byName.set(name, undefined)
      report.report(code, { offset: at, path: memberPath(name), message })
    }
    if (isEncrypted(flags)) return refuse(codes.encrypted, 'the member is encrypted')
    if (fields.method !== methods.stored && fields.method !== methods.deflated)
      return refuse(codes.method, `the method is ${fields.method}, neither stored (0) nor deflated (8)`)
    if (fields.disk !== 0) return refuse(codes.disks, `the member lies on part ${fields.disk + 1} of the archive`)
    const extraAt = nameAt + nameLength
    const wide = widen(fields, () => cursor.bytes.subarray(extraAt, extraAt + extraLength))
    if (!wide) return refuse(codes.zip64, 'a size or offset needs a zip64 field that is missing, or is too large')
    const { size, storedSize } = wide
    const isDeflated = fields.method === methods.deflated
    if (!isDeflated && size !== storedSize)
      return refuse(codes.size, `it is stored as it is, but has ${storedSize} bytes in the file and ${size} of content`)
    if (isDeflated && size > storedSize * maxRatio)
      return refuse(codes.ratio, `${size} bytes of content cannot come from ${storedSize} bytes`)
    const headerOffset = wide.localOffset + this.#place.prefix
    if (headerOffset >= this.#place.offset)
      return refuse(
        codes['past-end'],
        `its header would be at ${headerOffset}, the directory is at ${this.#place.offset}`,
      )
    const member = new ZipMember({
      name,
      nameLength,
      isDeflated,
      flags,
      crc32,
      size,
      storedSize,
      headerOffset,
      entryOffset: at,
    })
    this.byName.set(name, member)
    return member
  }

  /** Goes over an entry for the byte map. */
  #noteEntry({ nameLength, extraLength, commentLength }: CentralFields, isUtf8: boolean): void {
    const cursor = this.#cursor
    cursor.enter('directory', this.count)
    centralEntry.read(cursor)
    cursor.raw(nameLength, 'name', (bytes) => decodeMemberName(bytes, 0, nameLength, isUtf8) ?? '')
    cursor.raw(extraLength, 'extra')
    cursor.raw(commentLength, 'comment')
    cursor.leave(2)
  }

  /** Whether the member has a name to be listed by. */
  #checkName(name: string | undefined, offset: number): name is string {
    const report = (code: Code, message: string): void => {
      this.#context.report.report(code, { offset, path: `directory[${this.count}].name`, message })
    }
    if (name === undefined || name === '' || name.includes('\0')) {
      report(codes['name-text'], name === undefined ? 'the name is not UTF-8' : 'the name is empty or holds a NUL')
      return false
    }
    if (leadsElsewhere(name)) report(codes['name-path'], `${JSON.stringify(name)} leads out of the archive`)
    if (this.byName.has(name)) {
      this.hasRepeats = true
      report(codes['duplicate-name'], `${JSON.stringify(name)} was there before`)
    }
    return true
  }
}

interface NarrowSizes {
  readonly uncompressedSize: number
  readonly compressedSize: number
  readonly localOffset: number
}

/** The zip64 field holds, in this order, those numbers that do not fit their 32 bits. */
function widen(
  { uncompressedSize, compressedSize, localOffset }: NarrowSizes,
  extra: () => Uint8Array,
): { size: number; storedSize: number; localOffset: number } | undefined {
  const isNarrow = uncompressedSize !== full32 && compressedSize !== full32 && localOffset !== full32
  if (isNarrow) return { size: uncompressedSize, storedSize: compressedSize, localOffset }
  const field = findExtra(extra(), zip64ExtraId)
  const view = field && new DataView(field.buffer, field.byteOffset, field.byteLength)
  let at = 0
  const next = (narrow: number): number | undefined => {
    if (narrow !== full32) return narrow
    if (!view || at + 8 > view.byteLength) return undefined
    at += 8
    return toSafe(view.getBigUint64(at - 8, true))
  }
  const [size, storedSize, offset] = [next(uncompressedSize), next(compressedSize), next(localOffset)]
  if (size === undefined || storedSize === undefined || offset === undefined) return undefined
  return { size, storedSize, localOffset: offset }
}
