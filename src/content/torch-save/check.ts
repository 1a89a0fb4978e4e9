// PyTorch never compares the checksums of its archives with the data. Here that is done for every member. PyTorch can also be told to
// leave them out; then all of them are zero.
import { type Report, verifyCodes } from '../../errors/index.js'
import type { CheckContext } from '../../model/index.js'
import { type CheckedArchive, checkMembers } from '../../payloads/zip-payload.js'
import { zipCodes } from '../../wire/zip/zip.js'
import { codes } from './codes.js'

/** A file of the old format has no members. */
export async function checkArchive(archive: CheckedArchive, context: CheckContext): Promise<void> {
  const own = { ...context, report: namingSkipped(archive, context.report.forFile(archive.source.name)) }
  const missing = whyNoSums(archive)
  if (missing === undefined) await checkMembers(archive, own)
  else if (!context.only)
    own.report.report(verifyCodes['no-checksums'], {
      message: `${missing}; damage inside the weights cannot be seen`,
    })
}

/** Storages whose data were left out have a checksum of 0, while the other members have theirs. */
function namingSkipped(archive: CheckedArchive, outer: Report): Report {
  const skipped = new Set(
    archive.members
      .filter((member) => member.crc32 === 0 && archive.tensorsIn(member).length > 0)
      .map(({ path }) => path),
  )
  if (skipped.size === 0) return outer
  return {
    ...outer,
    report(code, details) {
      if (code !== zipCodes.crc || !skipped.has(details.path ?? '')) return outer.report(code, details)
      outer.report(codes['skipped-data'], { ...details, message: 'its data were left out when the file was saved' })
    },
  }
}

function whyNoSums({ members }: CheckedArchive): string | undefined {
  if (members.length === 0) return 'the old format has no checksums'
  return members.every(({ crc32 }) => crc32 === 0) ? 'the archive was written without checksums' : undefined
}
