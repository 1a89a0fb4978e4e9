// PyTorch never compares the checksums of its archives with the data. Here that is done for every member.
import type { ByteSource } from '../../bytes/index.js'
import { verifyCodes } from '../../errors/index.js'
import type { CheckContext, Model } from '../../model/index.js'
import { checkMember } from '../../model/zip-payload.js'
import type { ZipMember } from '../../wire/zip.js'

interface CheckedFile {
  readonly source: ByteSource
  readonly members: readonly ZipMember[]
}

const filesByModel = new WeakMap<Model, readonly CheckedFile[]>()

/** Keeps what a check needs beside the model. */
export function rememberMembers(model: Model, files: readonly CheckedFile[]): void {
  filesByModel.set(model, files)
}

export const membersOf = (model: Model): readonly CheckedFile[] => filesByModel.get(model) ?? []

export async function check(model: Model, context: CheckContext): Promise<void> {
  for (const { source, members } of membersOf(model)) {
    const own = { ...context, report: context.report.forFile(source.name) }
    if (members.length === 0) {
      const message = 'the old format has no checksums; damage inside the weights cannot be seen'
      own.report.report(verifyCodes['no-checksums'], { message })
    }
    for (const member of members) await checkMember(source, member, own)
  }
}
