// Verifying a set: every file against its SHA-256, and everything inside every part as if it were verified alone. Sizes, the shard map and
// the agreement of the indexes were checked while reading.
import { toHex } from '../../bytes/index.js'
import type { CheckContext, Model } from '../../model/index.js'
import { checkFile } from './check.js'
import { type Check, checkTogether } from './check-together.js'
import { setCodes } from './codes.js'
import { fileOf } from './file.js'
import type { HashJob } from './hash-jobs.js'
import { complainSha256, setOf } from './read-set.js'
import type { SetFile } from './set-json.js'

export async function checkSet(model: Model, context: CheckContext): Promise<void> {
  const set = setOf(model)
  if (!set) return
  // A small global index was compared while it was read.
  const isCompared = fileOf(set.global)!.source.size <= context.limits.indexBytes
  const checks: Check[] = [(own) => checkMember([set.index.global], set.global, own, isCompared)]
  for (const part of new Set(set.opened)) {
    if (part) checks.push((own) => checkMember(part.stated, part.model, own, false))
  }
  await checkTogether(checks, context)
}

async function checkMember(
  stated: readonly SetFile[],
  member: Model,
  context: CheckContext,
  isCompared: boolean,
): Promise<void> {
  const file = fileOf(member)!
  const more: HashJob[] = []
  for (const { path, where } of stated.filter((each) => each.sha256 === undefined)) {
    const message = `${JSON.stringify(path)} has no sha256 in the set index`
    context.report.report(setCodes['no-sha256'], { offset: 0, path: where, message })
  }
  const proven = stated.filter((each) => each.sha256 !== undefined)
  if (proven.length > 0 && !isCompared) {
    let wrong: readonly SetFile[] = []
    const isRight = (digest: Uint8Array): boolean => {
      wrong = proven.filter((each) => toHex(digest) !== each.sha256)
      return wrong.length === 0
    }
    const complain = (): void => {
      for (const each of wrong) complainSha256(each, context)
    }
    more.push({ start: 0, end: file.source.size, algorithm: 'sha256', isRight, complain })
  }
  await checkFile(file, { ...context, report: context.report.forFile(file.source.name) }, more)
}
