// PyTorch never compares the checksums of its archives with the data. Here that is done for every member. PyTorch can also be told to
// leave them out; then all of them are zero.
import { verifyCodes } from '../../errors/index.js'
import type { CheckContext } from '../../model/index.js'
import { type CheckedArchive, checkMembers } from '../../payloads/zip-payload.js'

/** A file of the old format has no members. */
export async function checkArchive(archive: CheckedArchive, context: CheckContext): Promise<void> {
  const own = { ...context, report: context.report.forFile(archive.source.name) }
  const missing = whyNoSums(archive)
  if (missing === undefined) await checkMembers(archive, own)
  else if (!context.only)
    own.report.report(verifyCodes['no-checksums'], {
      message: `${missing}; damage inside the weights cannot be seen`,
    })
}

function whyNoSums({ members }: CheckedArchive): string | undefined {
  if (members.length === 0) return 'the old format has no checksums'
  return members.every(({ crc32 }) => crc32 === 0) ? 'the archive was written without checksums' : undefined
}
