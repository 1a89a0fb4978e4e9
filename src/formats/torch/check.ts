// PyTorch never compares the checksums of its archives with the data. Here that is done for every member. PyTorch can also be told to
// leave them out; then all of them are zero.
import { verifyCodes } from '../../errors/index.js'
import type { CheckContext, Model } from '../../model/index.js'
import { type CheckedArchive, checkMembers } from '../../payloads/zip-payload.js'

/** By model; a file of the old format has no members. */
const filesByModel = new WeakMap<Model, readonly CheckedArchive[]>()

/** Keeps what a check needs beside the model. */
export function rememberMembers(model: Model, files: readonly CheckedArchive[]): void {
  filesByModel.set(model, files)
}

export const membersOf = (model: Model): readonly CheckedArchive[] => filesByModel.get(model) ?? []

function whyNoSums({ members }: CheckedArchive): string | undefined {
  if (members.length === 0) return 'the old format has no checksums'
  return members.every(({ crc32 }) => crc32 === 0) ? 'the archive was written without checksums' : undefined
}

export async function check(model: Model, context: CheckContext): Promise<void> {
  for (const archive of membersOf(model)) {
    const own = { ...context, report: context.report.forFile(archive.source.name) }
    const missing = whyNoSums(archive)
    if (missing === undefined) await checkMembers(archive, own)
    else if (!context.only)
      own.report.report(verifyCodes['no-checksums'], {
        message: `${missing}; damage inside the weights cannot be seen`,
      })
  }
}
