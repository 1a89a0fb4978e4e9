// Verifying a set: every file against its SHA-256, and everything inside every part as if it were verified alone. Sizes, the shard map and
// the agreement of the indexes were checked while reading. Where only some tensors are wanted, the checksums inside their parts are enough,
// and the SHA-256 of whole files is not computed.
import { collectingReport, type Finding, TareError } from '../../../errors/index.js'
import type { CheckContext } from '../../../model/index.js'
import { checkFile, type HashJob } from '../check.js'
import { setCodes } from '../codes.js'
import type { AeroFile } from '../file.js'
import { type AeroSet, complainSha256 } from './read-set.js'
import type { OpenPart } from './set-files.js'
import type { SetFile } from './set-json.js'

export async function checkSet(set: AeroSet, context: CheckContext): Promise<void> {
  const { file } = set.global
  // A small global index was compared while it was read.
  const isCompared = file.source.size <= context.limits.indexBytes
  const checks: Check[] = [(own) => checkMember([set.index.global], file, own, isCompared)]
  for (const [part, only] of await membersToCheck(set, context.only)) {
    checks.push((own) => checkMember(part.stated, part.file, { ...own, only }, false))
  }
  await checkTogether(checks, context)
}

/** The parts to look at, each with the names of the tensors that are wanted from it. Opens those that were not opened yet. */
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
    if (!part) continue
    const known = members.get(part) ?? new Set()
    members.set(part, known)
    for (const name of names) known.add(name)
  }
  return members
}

/** The wanted names by the position of the part that the global index places them in. */
function namesByPart({ index, global }: AeroSet, only: ReadonlySet<string>): Map<number, string[]> {
  const names = new Map<number, string[]>()
  for (const { tensor, shardId } of global.file.entries) {
    const i = only.has(tensor.name) ? index.partOf.get(shardId) : undefined
    if (i === undefined) continue
    if (!names.has(i)) names.set(i, [])
    names.get(i)!.push(tensor.name)
  }
  return names
}

async function checkMember(
  stated: readonly SetFile[],
  file: AeroFile,
  context: CheckContext,
  isCompared: boolean,
): Promise<void> {
  const inFile = { ...context, report: context.report.forFile(file.source.name) }
  if (context.only) return checkFile(file, inFile)
  for (const { path, where } of stated.filter((each) => each.sha256 === undefined)) {
    const message = `${JSON.stringify(path)} has no sha256 in the set index`
    context.report.report(setCodes['no-sha256'], { offset: 0, path: where, message })
  }
  const proven = isCompared ? [] : stated.filter((each) => each.sha256 !== undefined)
  const whole = { start: 0, end: file.source.size, algorithm: 'sha256' } as const
  const jobs = proven.map(
    (each): HashJob => ({
      ...whole,
      hash: each.sha256,
      complain: () => complainSha256(each, context),
    }),
  )
  await checkFile(file, inFile, jobs)
}

type Check = (context: CheckContext) => Promise<void>

/**
 * Runs several checks at the same time, so that threads have work while one file has only a single long digest left. What they find is
 * reported in their order, as if they had run one after the other.
 */
async function checkTogether(checks: readonly Check[], context: CheckContext): Promise<void> {
  const atOnce = context.pool?.threads ?? 1
  if (atOnce === 1) {
    for (const check of checks) await check(context)
    return
  }
  const findings = checks.map((): Finding[] => [])
  const errors = new Map<number, unknown>()
  let next = 0
  const work = async (): Promise<void> => {
    while (next < checks.length && errors.size === 0) {
      const i = next++
      const report = collectingReport(context.report.file, findings[i]!)
      await checks[i]!({ ...context, report }).catch((error: unknown) => errors.set(i, error))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  for (const i of checks.keys()) {
    const error = errors.get(i)
    const thrown = error instanceof TareError ? error.finding : undefined
    for (const finding of findings[i]!) if (finding !== thrown) repeat(finding, context)
    if (errors.has(i)) throw error
  }
}

function repeat(finding: Finding, { report }: CheckContext): void {
  const { code, severity, message } = finding
  report.forFile(finding.file).report({ code, severity, text: message }, finding)
}
