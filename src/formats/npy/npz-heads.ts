// The beginnings of the members of an NPZ file, as far as their headers reach. Small arrays lie close together, so one read brings the
// headers of many; of a deflated member no more is inflated than is needed.
import type { ByteSource } from '../../bytes/index.js'
import { ReadBuffers } from '../../bytes/read-buffers.js'
import type { ReadContext } from '../../model/index.js'
import { reportZipFailure } from '../../payloads/zip-payload.js'
import { startsLikeNpy } from '../../wire/npy/header.js'
import { npyHeadSize } from '../../wire/npy/parse.js'
import { readMemberHead, type ZipMember } from '../../wire/zip/zip.js'

/** Nearly every header fits; longer ones cost a second read. */
const firstRead = 1024
/** Stored members no further apart than this are read together, up to a maximum. */
const closeMembers = 1 << 12
const maxTogether = 1 << 18
const parallelReads = 16

/** Members whose heads one read brings. */
interface HeadRead {
  readonly start: number
  end: number
  readonly members: ZipMember[]
}

/**
 * Calls `use` for each member with enough of its content to hold the header, or undefined when it cannot be inflated, which is reported. The
 * bytes are valid only inside `use`.
 */
export async function readHeads(
  source: ByteSource,
  members: readonly ZipMember[],
  { report, signal }: ReadContext,
  use: (member: ZipMember, head: Uint8Array | undefined) => void,
): Promise<void> {
  const reads = [...readsFor(members)]
  const buffers = new ReadBuffers(source, signal)
  for (let first = 0; first < reads.length; first += parallelReads) {
    const batch = reads.slice(first, first + parallelReads)
    const windows = await Promise.all(batch.map(readWindow))
    for (const [i, { start, members }] of batch.entries()) {
      for (const member of members) {
        const at = member.dataOffset - start
        const head = windows[i]?.subarray(at, at + Math.min(firstRead, member.size))
        use(member, head && isCut(head, member) ? await readHead(member, npyHeadSize) : head)
      }
    }
  }

  function readWindow({ start, end, members }: HeadRead, index: number): Promise<Uint8Array | undefined> {
    if (members.length === 1) return readHead(members[0]!, firstRead)
    return buffers.read(index, start, end - start)
  }

  async function readHead(member: ZipMember, length: number): Promise<Uint8Array | undefined> {
    try {
      return await readMemberHead(source, member, length, signal)
    } catch (error) {
      reportZipFailure(error, report)
      return undefined
    }
  }
}

function* readsFor(members: readonly ZipMember[]): Generator<HeadRead, void, void> {
  let read: HeadRead | undefined
  for (const member of members) {
    const { dataOffset: start, isDeflated } = member
    const end = start + Math.min(firstRead, member.storedSize)
    const isClose = read && start >= read.end && start - read.end <= closeMembers && end - read.start <= maxTogether
    if (read && isClose && !isDeflated && !read.members[0]!.isDeflated) {
      read.end = end
      read.members.push(member)
      continue
    }
    if (read) yield read
    read = { start, end, members: [member] }
  }
  if (read) yield read
}

/** Whether the header goes on behind the bytes that were read. */
const isCut = (head: Uint8Array, { size }: ZipMember): boolean =>
  head.byteLength < size && (npyHeaderEnd(head) ?? 0) > head.byteLength

/** Where the header ends, going by its length field; undefined when the bytes are no array. */
export function npyHeaderEnd(head: Uint8Array): number | undefined {
  if (!startsLikeNpy(head) || head.byteLength < 12) return undefined
  const length = head[8]! + head[9]! * 2 ** 8
  return head[6] === 1 ? 10 + length : 12 + length + head[10]! * 2 ** 16 + head[11]! * 2 ** 24
}
