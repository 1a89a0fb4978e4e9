// PyTorch never compares the checksums of its archives with the data. Here that is done for every member.
import { verifyCodes } from '../../errors/index.js'
import type { CheckContext, Model } from '../../model/index.js'
import { type CheckedArchive, checkMembers } from '../../model/zip-payload.js'

/** By model; a file of the old format has no members. */
const filesByModel = new WeakMap<Model, readonly CheckedArchive[]>()

/** Keeps what a check needs beside the model. */
export function rememberMembers(model: Model, files: readonly CheckedArchive[]): void {
  filesByModel.set(model, files)
}

export const membersOf = (model: Model): readonly CheckedArchive[] => filesByModel.get(model) ?? []

export async function check(model: Model, context: CheckContext): Promise<void> {
  for (const archive of membersOf(model)) {
    const own = { ...context, report: context.report.forFile(archive.source.name) }
    if (archive.members.length === 0 && !context.only) {
      const message = 'the old format has no checksums; damage inside the weights cannot be seen'
      own.report.report(verifyCodes['no-checksums'], { message })
    }
    await checkMembers(archive, own)
  }
}
