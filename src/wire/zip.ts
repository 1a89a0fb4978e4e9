// Zip archives, as NPZ and PyTorch use them. The members of a model are mostly stored as they are, so a member is a byte range of the
// file that nobody needs to copy; deflated ones are streamed. Nothing is ever unpacked to disk.
import type { ByteSource } from '../bytes/index.js'
import { TareError } from '../errors/index.js'
import { type Directory, readDirectory } from './zip-directory.js'
import type { ZipContext } from './zip-end.js'
import { readLocals, type ZipMember } from './zip-local.js'
import { scanMembers } from './zip-scan.js'
import { signatures } from './zip-structs.js'

export * from './zip-codes.js'
export { mostComment, type ZipContext } from './zip-end.js'
export * from './zip-inflate.js'
export type { ZipMember } from './zip-local.js'

export interface ZipArchive {
  /** In the order of the directory; those that were reported as unreadable are not among them. */
  readonly members: readonly ZipMember[]
  readonly comment: Uint8Array
}

/** Reads the directory and every local header, and checks that they agree and that nothing overlaps. */
export async function readZip(source: ByteSource, context: ZipContext): Promise<ZipArchive> {
  let directory: Directory
  try {
    directory = await readDirectory(source, context)
  } catch (error) {
    if (!context.onLost || !(error instanceof TareError) || context.signal?.aborted) throw error
    return { members: await scanMembers(source, context), comment: new Uint8Array() }
  }
  const members = await readLocals(source, directory.members, directory.offset, context)
  return { members, comment: directory.comment }
}

/** Whether the bytes begin like an archive, an empty one included. */
export function startsLikeZip(head: Uint8Array): boolean {
  if (head.byteLength < 4) return false
  const signature = new DataView(head.buffer, head.byteOffset, head.byteLength).getUint32(0, true)
  return signature === signatures.local || signature === signatures.end
}

/** Names of members whose local headers lie in these bytes. A guess that helps to recognise what is inside, nothing more. */
export function* guessMemberNames(head: Uint8Array): Generator<string, void, void> {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  for (let at = head.indexOf(0x50); at >= 0 && at + 30 <= head.byteLength; at = head.indexOf(0x50, at + 1)) {
    if (view.getUint32(at, true) !== signatures.local) continue
    const end = at + 30 + view.getUint16(at + 26, true)
    if (end <= head.byteLength) yield new TextDecoder().decode(head.subarray(at + 30, end))
  }
}
