// Verifying a set: every file against its SHA-256, and everything inside every part as if it were verified alone. Sizes, the shard map and
// the agreement of the indexes were checked while reading. Where only some tensors are wanted, the checksums inside their parts are enough,
// and the SHA-256 of whole files is not made.
import { toHex } from '../../../bytes/index.js'
import type { CheckContext, Model } from '../../../model/index.js'
import { checkFile } from '../check.js'
import { setCodes } from '../codes.js'
import { fileOf } from '../file.js'
import type { HashJob } from '../hash/hash-jobs.js'
import { type Check, checkTogether } from './check-together.js'
import { type AeroSet, complainSha256, setOf } from './read-set.js'
import type { OpenPart } from './set-files.js'
import type { SetFile } from './set-json.js'

export async function checkSet(model: Model, context: CheckContext): Promise<void> {
  const set = setOf(model)
  if (!set) return
  // A small global index was compared while it was read.
  const isCompared = fileOf(set.global)!.source.size <= context.limits.indexBytes
  const checks: Check[] = [(own) => checkMember([set.index.global], set.global, own, isCompared)]
  for (const [part, only] of await membersToCheck(set, context.only)) {
    checks.push((own) => checkMember(part.stated, part.model, { ...own, only }, false))
  }
  await checkTogether(checks, context)
}

/** The parts to look at, each with the names of the tensors that are wanted from it; those that were not opened yet are. */
async function membersToCheck(
  set: AeroSet,
  only: ReadonlySet<string> | undefined,
): Promise<Map<OpenPart, ReadonlySet<string> | undefined>> {
  const members = new Map<OpenPart, Set<string> | undefined>()
  const partAt = async (i: number): Promise<OpenPart | undefined> =>
    set.opened ? set.opened[i] : await set.parts.open(i)
  if (!only) {
    for (const i of set.index.parts.keys()) {
      const part = await partAt(i)
      if (part) members.set(part, undefined)
    }
    return members
  }
  for (const [i, names] of namesByPart(set, only)) {
    const part = await partAt(i)
    if (part) members.set(part, new Set([...(members.get(part) ?? []), ...names]))
  }
  return members
}

/** The wanted names by the number of the part that the global index places them in. */
function namesByPart({ index, global }: AeroSet, only: ReadonlySet<string>): Map<number, string[]> {
  const partOf = new Map<number, number>()
  for (const [i, part] of index.parts.entries()) {
    for (const shard of part.shards) if (!partOf.has(shard)) partOf.set(shard, i)
  }
  const { table } = fileOf(global)!
  const names = new Map<number, string[]>()
  for (let k = 0; k < table.count; k++) {
    const name = table.tensors.nameAt(k)
    const i = only.has(name) ? partOf.get(table.shardIdOf(k)) : undefined
    if (i === undefined) continue
    if (!names.has(i)) names.set(i, [])
    names.get(i)!.push(name)
  }
  return names
}

async function checkMember(
  stated: readonly SetFile[],
  member: Model,
  context: CheckContext,
  isCompared: boolean,
): Promise<void> {
  const file = fileOf(member)!
  const inFile = { ...context, report: context.report.forFile(file.source.name) }
  if (context.only) return checkFile(file, inFile)
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
  await checkFile(file, inFile, more)
}
