// An NPZ file is a zip archive with one NPY file per array; the member's name without `.npy` is the array's. Stored members are read
// where they lie. Of a deflated one only as much is inflated as its header takes; the elements are streamed when they are read.
import { type ByteSource, decodeUtf8 } from '../../bytes/index.js'
import {
  type Metadata,
  type Model,
  type Opened,
  type ReadContext,
  readPayload,
  stowageKey,
  text,
} from '../../model/index.js'
import { checkMembers, memberPayload } from '../../payloads/zip-payload.js'
import { readZip, type ZipArchive, type ZipContext } from '../../wire/zip/zip.js'
import { extension, stowageFile } from './names.js'
import { Contents } from './npz-contents.js'
import { readHeads } from './npz-heads.js'

export async function readArchive(source: ByteSource, context: ReadContext): Promise<Opened> {
  const { report, extents, signal } = context
  const onLost = context.onLost && lostMember(context.onLost)
  const archive = await readZip(source, { report, extents, signal, maxDirectory: context.limits.indexBytes, onLost })
  const { members } = archive
  const contents = new Contents(source, archive, context)
  await readHeads(source, members, context, (member, head) => contents.add(member, head))
  const { tensors, parts, flaws } = contents
  contents.tellUnread()
  const metadata = await readStowage(source, archive, context)
  const model: Model = {
    format: 'npz',
    metadata,
    tensors,
    parts,
    files: [source],
    ...(flaws.length > 0 && { flaws }),
  }
  const tensorsIn = contents.tensorsIn()
  return { model, check: (checking) => checkMembers({ source, members, tensorsIn }, checking) }
}

/** The size of a lost member is told in words: how much of it was header, only the member itself could say. */
const lostMember =
  (onLost: NonNullable<ReadContext['onLost']>): NonNullable<ZipContext['onLost']> =>
  (member, reason) => {
    if (!member) return onLost({ subject: 'tensor', reason })
    const { name, size } = member
    const isArray = name.toLowerCase().endsWith(extension)
    const subject = isArray ? 'tensor' : 'part'
    onLost({
      subject,
      name: isArray ? name.slice(0, -extension.length) : name,
      reason: `${reason}; it had ${size} bytes`,
    })
  }

/** What no array could hold is in the archive's comment, or in a member of its own when it is long. */
async function readStowage(
  source: ByteSource,
  { members, comment }: ZipArchive,
  { limits, signal }: ReadContext,
): Promise<Metadata> {
  const member = members.find(({ name, size }) => name === stowageFile && size <= limits.indexBytes)
  const bytes = member ? await readPayload(memberPayload(source, member), signal) : comment
  const content = bytes[0] === 0x7b ? decodeUtf8(bytes) : undefined
  return new Map(content === undefined ? [] : [[stowageKey, text(content)]])
}
