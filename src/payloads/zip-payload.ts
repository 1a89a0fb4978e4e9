// Members of a zip archive as payloads: a stored one is a range of the file, a deflated one a stream that cannot be read out of order.
import { type ByteSource, checkRange, defaultWindow } from '../bytes/index.js'
import { createHasher } from '../digest/index.js'
import { type Report, TareError } from '../errors/index.js'
import type { CheckContext } from '../model/format.js'
import { lazyPayload, type Payload, rangePayload } from '../model/payload.js'
import { digestRanges } from '../threads/index.js'
import { memberContent, type ZipMember, zipCodes } from '../wire/zip/zip.js'

/** Bytes `offset` to `offset + length` of a member's content. */
export function memberPayload(
  source: ByteSource,
  member: ZipMember,
  offset = 0,
  length = member.size - offset,
): Payload {
  checkRange({ name: source.name, size: member.size }, offset, length)
  if (!member.isDeflated) return rangePayload(source, member.dataOffset + offset, length)
  return lazyPayload(length, (signal) => part(memberContent(source, member, signal), offset, length))
}

async function* part(
  pieces: AsyncIterable<Uint8Array>,
  offset: number,
  length: number,
): AsyncGenerator<Uint8Array, void, void> {
  if (length === 0) return
  let at = 0
  const end = offset + length
  for await (const piece of pieces) {
    const from = Math.max(0, offset - at)
    if (from < piece.byteLength) yield piece.subarray(from, Math.min(piece.byteLength, end - at))
    at += piece.byteLength
    // Where the range ends with the content, the stream is read to its end, so that a wrong length shows.
    if (at > end) return
  }
}

/** Reports what went wrong inside an archive, so that verifying goes on with the next member; throws everything else on. */
export function reportZipFailure(error: unknown, report: Report): void {
  if (!(error instanceof TareError)) throw error
  const code = Object.values(zipCodes).find((each) => each.code === error.code)
  if (!code) throw error
  report.report(code, error.finding)
}

/** The members of an archive, and which tensors have bytes in them. */
export interface CheckedArchive {
  readonly source: ByteSource
  readonly members: readonly ZipMember[]
  tensorsIn(member: ZipMember): readonly string[]
}

/** Compares the checksums of an archive, or of those members that hold bytes of the tensors that are asked for. */
export async function checkMembers(archive: CheckedArchive, context: CheckContext): Promise<void> {
  const { source, members } = archive
  const { only, pool, signal } = context
  const wanted = members.filter((member) => !only || archive.tensorsIn(member).some((name) => only.has(name)))
  // Stored members are ranges of the file, which threads can sum up at once.
  const stored = wanted.filter((member) => !member.isDeflated)
  const sums = new Map<ZipMember, number>()
  if (pool && stored.length > 1) {
    const ranges = stored.map(({ dataOffset, size }) => {
      checkRange(source, dataOffset, size)
      return { start: dataOffset, end: dataOffset + size, algorithm: 'crc32' as const }
    })
    const digest = await digestRanges(source, ranges, { pool, signal, onRead: (bytes) => context.checked(bytes) })
    for (const [i, member] of stored.entries()) sums.set(member, readSum(digest(i)))
  }
  for (const member of wanted) {
    const sum = sums.get(member)
    if (sum === undefined) await checkMember(source, member, context)
    else compareSum(sum, member, context)
  }
}

/** Reads a member to its end and compares its checksum with the directory's. */
export async function checkMember(source: ByteSource, member: ZipMember, context: CheckContext): Promise<void> {
  const { report, signal } = context
  const hasher = await createHasher('crc32')
  try {
    for await (const piece of memberPayload(source, member).chunks(defaultWindow, signal)) {
      hasher.update(piece)
      context.checked(piece.byteLength)
    }
  } catch (error) {
    reportZipFailure(error, report)
    return
  }
  compareSum(readSum(hasher.digest()), member, context)
}

const readSum = (digest: Uint8Array): number =>
  new DataView(digest.buffer, digest.byteOffset, digest.byteLength).getUint32(0)

function compareSum(found: number, member: ZipMember, { report }: CheckContext): void {
  if (found === member.crc32) return
  const hex = (crc: number): string => crc.toString(16).padStart(8, '0')
  const message = `the content has the checksum ${hex(found)}, the directory says ${hex(member.crc32)}`
  report.report(zipCodes.crc, { offset: member.dataOffset, length: member.storedSize, path: member.path, message })
}
