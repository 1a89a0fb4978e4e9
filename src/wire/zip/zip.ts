// Zip archives, as NPZ and PyTorch use them. The members of a model are mostly stored as they are, so a member is a byte range of the
// file that needs no copy; deflated ones are streamed. Nothing is ever unpacked to disk.
import type { ByteSource } from '../../bytes/index.js'
import { TareError } from '../../errors/index.js'
import { confirmingSource } from './confirm.js'
import { type Directory, readDirectory } from './directory.js'
import type { ZipContext } from './end.js'
import { readLocals } from './local.js'
import type { ZipMember } from './member.js'
import { scanMembers } from './scan.js'

export * from './codes.js'
export { maxComment, type ZipContext } from './end.js'
export * from './inflate.js'
export type { ZipMember } from './member.js'

export interface ZipArchive {
  /** In the order of the directory; those that were reported as unreadable are not among them. */
  readonly members: readonly ZipMember[]
  /** The same by name. Where two have the same name, it is the last. */
  readonly byName: ReadonlyMap<string, ZipMember | undefined>
  /** Whether two members have the same name, which was reported. */
  readonly hasRepeats: boolean
  readonly comment: Uint8Array
  /** To read members from. If local headers were passed over, it compares each with the directory before it gives bytes of its member. */
  readonly source: ByteSource
}

/** Reads the directory and the local headers, and checks that they agree and that nothing overlaps. */
export async function readZip(source: ByteSource, context: ZipContext): Promise<ZipArchive> {
  let directory: Directory
  try {
    directory = await readDirectory(source, context)
  } catch (error) {
    if (!context.onLost || !(error instanceof TareError) || context.signal?.aborted) throw error
    const members = await scanMembers(source, context)
    const byName = new Map(members.map((member) => [member.name, member]))
    return { members, byName, hasRepeats: false, comment: new Uint8Array(), source }
  }
  const { members, passedOver } = await readLocals(source, directory, context)
  const { byName, hasRepeats, comment } = directory
  return { members, byName, hasRepeats, comment, source: passedOver ? confirmingSource(source, passedOver) : source }
}
