// Full verification: every chunk against its hash, every page against its page table, every tensor against its own hash, the control
// region against the control hash, and zeros between the chunks. The weights are read once for all of it.
import { inOrder, joined, type Range } from '../../bytes/index.js'
import type { CheckContext } from '../../model/index.js'
import { codes } from './codes.js'
import { type Chunk, describeChunk, isCompressed, readChunks } from './control/chunk.js'
import { gapsOf } from './control/regions.js'
import type { AeroFile, TensorEntry } from './file.js'
import { CheckJobs, type HashJob } from './hash/check-jobs.js'
import { checkControlHash } from './hash/ihsh.js'

/** `more`: further digests of the same file, to be computed in the same pass. */
export async function checkFile(file: AeroFile, context: CheckContext, more: readonly HashJob[] = []): Promise<void> {
  await checkControl(file, context)
  if (context.extra.control) return
  if (context.only) await checkNamed(file, context.only, context)
  else await checkContent(file, context, more)
}

/** The control region alone: cheap, whatever the size of the weights. */
async function checkControl({ source, control, controlHash }: AeroFile, context: CheckContext): Promise<void> {
  if (controlHash) {
    const [content] = await readChunks(source, [controlHash], context)
    if (content) await checkControlHash(content, control, source, context)
  } else if (context.extra.control) {
    const message = 'the file has no IHSH chunk; the control region was not compared with anything'
    context.report.report(codes['ihsh-absent'], { message })
  }
}

async function checkContent(file: AeroFile, context: CheckContext, more: readonly HashJob[]): Promise<void> {
  const { control, source, pageTables } = file
  const jobs = new CheckJobs(file, context)
  const done = new Set([...file.checked, file.controlHash, ...pageTables.values()])
  for (const chunk of control.chunks) {
    if (done.has(chunk)) continue
    if (!isCompressed(chunk)) jobs.addChunk(chunk)
    else if (jobs.affordsContent(chunk)) await readChunks(source, [chunk], context)
  }
  for (const shard of pageTables.keys()) await jobs.addPages(shard, () => true)
  reportOrphans(file, context)
  await jobs.run(file.entries, more)
  await checkGaps(file, context)
}

function reportOrphans({ control, pageTables }: AeroFile, { report }: CheckContext): void {
  const used = new Set(pageTables.values())
  for (const chunk of control.chunks) {
    if (chunk.fourcc !== 'PHSH' || used.has(chunk)) continue
    const message = `no shard belongs to ${describeChunk(chunk)}`
    report.report(codes['phsh-orphan'], { offset: chunk.offset, path: `chunks[${chunk.index}]`, message })
  }
}

const window = 1 << 20

async function checkGaps({ control, source }: AeroFile, { report, signal }: CheckContext): Promise<void> {
  for (const { start, end } of gapsOf(control)) {
    for (let at = start; at < end; at += window) {
      const bytes = await source.read(at, Math.min(window, end - at), { signal })
      const odd = bytes.findIndex((byte) => byte !== 0)
      if (odd < 0) continue
      const message = `byte ${at + odd}, between chunks, is ${bytes[odd]} and should be 0`
      report.report(codes['gap-nonzero'], { offset: at + odd, length: 1, path: 'padding', message })
      break
    }
  }
}

/**
 * Verifies some tensors alone, each against the narrowest checksum that covers its bytes: the tensor's own hash; without one, the pages that
 * it lies in; without those, the whole chunk. Nothing else of the weights is read.
 */
async function checkNamed(file: AeroFile, names: ReadonlySet<string>, context: CheckContext): Promise<void> {
  const named = file.entries.filter(({ tensor }) => names.has(tensor.name))
  const jobs = new CheckJobs(file, context)
  for (const [shard, ranges] of unhashedRanges(named)) {
    if (isCompressed(shard)) {
      if (jobs.affordsContent(shard)) await readChunks(file.source, [shard], context)
    } else if (!(await jobs.addPages(shard, pagesOver(ranges)))) jobs.addChunk(shard)
  }
  await jobs.run(named)
}

/** Where tensors lie that have no hash of their own, by shard. A malformed hash is reported as a wrong one, so it needs no other. */
function unhashedRanges(entries: readonly TensorEntry[]): Map<Chunk, Range[]> {
  const byShard = new Map<Chunk, Range[]>()
  for (const entry of inOrder(entries)) {
    const { shard, hash, start, end } = entry
    if (!shard || hash !== undefined || start === end) continue
    const ranges = byShard.get(shard)
    if (ranges) ranges.push(entry)
    else byShard.set(shard, [entry])
  }
  return byShard
}

/** Whether a page holds any byte of the ranges. Pages are asked for in their order. */
function pagesOver(ranges: readonly Range[]): (start: number, end: number) => boolean {
  const apart = joined(ranges)
  let next = 0
  return (start, end) => {
    while (next < apart.length && apart[next]!.end <= start) next++
    return next < apart.length && apart[next]!.start < end
  }
}
