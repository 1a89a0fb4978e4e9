// Full verification: every chunk against its hash, every page against its page table, every tensor against its own hash, the control
// region against the control hash, and zeros between the chunks. The weights are read once for all of it.
import type { CheckContext, Model } from '../../model/index.js'
import { checkNamed } from './check-named.js'
import { codes } from './codes.js'
import { describeChunk, isCompressed, readChunks } from './control/chunk.js'
import { gapsOf, regionsOf } from './control/regions.js'
import { type AeroFile, controlHashOf, fileOf, pageTablesOf } from './file.js'
import { CheckJobs } from './hash/check-jobs.js'
import type { HashJob } from './hash/hash-jobs.js'
import { checkControlHash } from './hash/ihsh.js'

export async function check(model: Model, context: CheckContext): Promise<void> {
  const file = fileOf(model)
  if (file) await checkFile(file, context)
}

/** `more` are digests of the same file that somebody else wants; they come out of the same pass. */
export async function checkFile(file: AeroFile, context: CheckContext, more: readonly HashJob[] = []): Promise<void> {
  await checkControl(file, context)
  if (context.extra.control) return
  if (context.only) await checkNamed(file, context.only, context)
  else await checkContent(file, context, more)
}

/** The control region alone: cheap, whatever the size of the weights. */
async function checkControl(file: AeroFile, context: CheckContext): Promise<void> {
  const chunk = controlHashOf(file)
  if (!chunk) {
    if (!context.extra.control) return
    const message = 'the file has no IHSH chunk; the control region was not compared with anything'
    context.report.report(codes['ihsh-absent'], { message })
    return
  }
  const [content] = await readChunks(file.source, [chunk], context)
  if (content) await checkControlHash(content, file.control, file.source, context)
}

async function checkContent(file: AeroFile, context: CheckContext, more: readonly HashJob[]): Promise<void> {
  const { control, source } = file
  const jobs = new CheckJobs(file, context)
  const tables = pageTablesOf(file)
  const done = new Set([...file.checked, controlHashOf(file), ...tables.values()])
  for (const chunk of control.chunks) {
    if (done.has(chunk)) continue
    if (!isCompressed(chunk)) jobs.addChunk(chunk)
    else if (jobs.canUnfold(chunk)) await readChunks(source, [chunk], context)
  }
  for (const shard of tables.keys()) await jobs.addPages(shard, () => true)
  reportOrphans(file, context)
  await jobs.run(() => true, more)
  await checkGaps(file, context)
}

function reportOrphans(file: AeroFile, { report }: CheckContext): void {
  const used = new Set(pageTablesOf(file).values())
  for (const chunk of file.control.chunks) {
    if (chunk.fourcc !== 'PHSH' || used.has(chunk)) continue
    const message = `no shard belongs to ${describeChunk(chunk)}`
    report.report(codes['phsh-orphan'], { offset: chunk.offset, path: `chunks[${chunk.index}]`, message })
  }
}

const window = 1 << 20

async function checkGaps(file: AeroFile, context: CheckContext): Promise<void> {
  const { control, source } = file
  const last = regionsOf(control).reduce((most, region) => Math.max(most, region.end), 0)
  for (const { start, end } of gapsOf(control, source.size)) {
    if (start >= last) continue // reported as trailing
    for (let at = start; at < end; at += window) {
      const bytes = await source.read(at, Math.min(window, end - at), { signal: context.signal })
      const odd = bytes.findIndex((byte) => byte !== 0)
      if (odd < 0) continue
      const message = `byte ${at + odd}, between chunks, is ${bytes[odd]} and should be 0`
      context.report.report(codes['gap-nonzero'], { offset: at + odd, length: 1, path: 'padding', message })
      break
    }
  }
}
