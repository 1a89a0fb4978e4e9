// Arrays inside an `.npz` file, which is a zip archive of `.npy` files. Stored and deflated members are both read as streams. The checksum
// of a member is compared after its last byte, before any output becomes visible.
import { type ByteSource, defaultWindow } from '../bytes/index.js'
import { combineCrc32 } from '../digest/crc32.js'
import { createHasher } from '../digest/index.js'
import { failWith, type Report, strictReport } from '../errors/index.js'
import type { Payload } from '../model/index.js'
import { memberPayload } from '../payloads/zip-payload.js'
import { type NpyHeader, npyHeadSize, parseNpyHeader } from '../wire/npy/parse.js'
import { readMemberHead, readZip, type ZipMember, zipCodes } from '../wire/zip/zip.js'
import { listNames } from './shape.js'

export interface ArchivedArray {
  readonly header: NpyHeader
  /** The number of bytes after the header. */
  readonly size: number
  readonly payload: Payload
}

const extension = '.npy'
const maxDirectory = 1 << 28

/** The arrays of each open archive, by name: several tensors can come from one file. */
const archives = new WeakMap<ByteSource, Promise<ReadonlyMap<string, ZipMember>>>()

export function arraysOf(source: ByteSource, signal: AbortSignal | undefined): Promise<ReadonlyMap<string, ZipMember>> {
  const known = archives.get(source)
  if (known) return known
  const reading = readArchive(source, strictReport(source.name), signal)
  archives.set(source, reading)
  return reading
}

async function readArchive(
  source: ByteSource,
  report: Report,
  signal: AbortSignal | undefined,
): Promise<Map<string, ZipMember>> {
  const { members } = await readZip(source, { report, signal, maxDirectory })
  const isArray = ({ name }: ZipMember): boolean => name.toLowerCase().endsWith(extension)
  return new Map(members.filter(isArray).map((member) => [member.name.slice(0, -extension.length), member]))
}

/** Chooses an array: the one that is named, else the one named like the field, else the only one. */
export function chooseArray(
  arrays: ReadonlyMap<string, ZipMember>,
  asked: string | undefined,
  fieldName: string,
): ZipMember | string {
  const found = arrays.get(asked ?? fieldName)
  if (found) return found
  const [only] = arrays.values()
  if (asked === undefined && arrays.size === 1) return only!
  const has = arrays.size === 0 ? 'it has no arrays' : `it has ${listNames(arrays.keys())}`
  if (asked !== undefined) return `there is no array ${JSON.stringify(asked)}; ${has}`
  return `there is no array ${JSON.stringify(fieldName)}; ${has}; say which one with member:`
}

export async function openArray(
  source: ByteSource,
  member: ZipMember,
  signal: AbortSignal | undefined,
): Promise<ArchivedArray> {
  const head = await readMemberHead(source, member, npyHeadSize, signal)
  const header = parseNpyHeader(head, strictReport(`${source.name} ${member.name}`))
  const size = member.size - header.dataOffset
  const payload = checkedPayload(source, member, head.slice(0, header.dataOffset))
  // Elements in Fortran order will not be read from first to last, so the checksum is compared now.
  if (header.fortranOrder) for await (const _ of payload.chunks(defaultWindow, signal));
  return { header, size, payload }
}

function checkedPayload(source: ByteSource, member: ZipMember, head: Uint8Array): Payload {
  const plain = memberPayload(source, member, head.byteLength)
  return {
    ...(plain.read && { read: (offset, length, signal) => plain.read!(offset, length, signal) }),
    byteLength: plain.byteLength,
    async *chunks(window, signal) {
      const hasher = await createHasher('crc32')
      for await (const chunk of plain.chunks(window, signal)) {
        hasher.update(chunk)
        yield chunk
      }
      const first = await createHasher('crc32')
      first.update(head)
      const found = combineCrc32(numberOf(first.digest()), numberOf(hasher.digest()), plain.byteLength)
      if (found === member.crc32) return
      const hex = (crc: number): string => crc.toString(16).padStart(8, '0')
      const message = `the content has the checksum ${hex(found)}, the directory says ${hex(member.crc32)}`
      failWith(zipCodes.crc, { file: source.name, offset: member.dataOffset, path: member.path, message })
    },
  }
}

const numberOf = (digest: Uint8Array): number => new DataView(digest.buffer, digest.byteOffset).getUint32(0)
