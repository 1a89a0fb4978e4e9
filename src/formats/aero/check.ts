// Full verification: every chunk against its hash, every page against its page table, every tensor against its own hash, the control
// region against the control hash, and zeros between the chunks. The weights are read once for all of it.
import type { CheckContext, Model } from '../../model/index.js'
import { mostPasses, WorkBudget } from '../../model/work-budget.js'
import { type Chunk, complainHash, describeChunk, isCompressed, readChunks, sameBytes } from './chunk.js'
import { codes } from './codes.js'
import { type AeroFile, controlHashOf, fileOf, pageTablesOf } from './file.js'
import { type HashJob, type ManyJobs, runHashJobs } from './hash-jobs.js'
import { checkControlHash } from './ihsh.js'
import { type PageTable, parsePageTable } from './phsh.js'
import { gapsOf, regionsOf } from './regions.js'
import { manyTensors } from './tensor-jobs.js'

export async function check(model: Model, context: CheckContext): Promise<void> {
  const file = fileOf(model)
  if (file) await checkFile(file, context)
}

/** `more` are digests of the same file that somebody else wants; they come out of the same pass. */
export async function checkFile(file: AeroFile, context: CheckContext, more: readonly HashJob[] = []): Promise<void> {
  await checkControl(file, context)
  if (!context.extra.control) await checkContent(file, context, more)
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
  const jobs = new JobList(file, context)
  const tables = pageTablesOf(file)
  const done = new Set([...file.checked, controlHashOf(file), ...tables.values()])
  for (const chunk of control.chunks) {
    if (done.has(chunk)) continue
    if (!isCompressed(chunk)) jobs.addChunk(chunk)
    else if (jobs.canUnfold(chunk)) await readChunks(source, [chunk], context)
  }
  for (const [shard, table] of tables) {
    if (!jobs.canUnfold(table)) break
    const [content] = await readChunks(source, [table], context)
    const pages = content && parsePageTable(content, shard, context.report)
    if (pages) jobs.addPages(shard, table, pages)
  }
  reportOrphans(file, context)
  const work = { first: jobs.jobs, many: jobs.tensorJobs(), last: more }
  const { pool, signal } = context
  await runHashJobs(source, work, { pool, signal, onRead: countData(file, context) })
  await checkGaps(file, context)
}

/** Everything but the tensors was counted as index already. */
function countData({ table }: AeroFile, context: CheckContext): (bytes: number) => void {
  let left = 0
  let reached = 0
  for (const i of table.inFileOrder()) {
    if (!table.shardOf(i)) continue
    left += Math.max(0, table.endOf(i) - Math.max(reached, table.startOf(i)))
    reached = Math.max(reached, table.endOf(i))
  }
  return (bytes) => {
    const counted = Math.min(left, bytes)
    left -= counted
    if (counted > 0) context.checked(counted)
  }
}

function reportOrphans(file: AeroFile, { report }: CheckContext): void {
  const used = new Set(pageTablesOf(file).values())
  for (const chunk of file.control.chunks) {
    if (chunk.fourcc !== 'PHSH' || used.has(chunk)) continue
    const message = `no shard belongs to ${describeChunk(chunk)}`
    report.report(codes['phsh-orphan'], { offset: chunk.offset, path: `chunks[${chunk.index}]`, message })
  }
}

/** Looking for the tensors of a page goes over all of them; after so many damaged pages nobody reads the names. */
const mostNamed = 100

class JobList {
  readonly jobs: HashJob[] = []
  readonly #file: AeroFile
  readonly #context: CheckContext
  readonly #budget: WorkBudget
  #isSpent = false
  #named = 0

  constructor(file: AeroFile, context: CheckContext) {
    this.#file = file
    this.#context = context
    this.#budget = new WorkBudget(file.source)
  }

  addChunk(chunk: Chunk): void {
    this.#add({
      start: chunk.offset,
      end: chunk.offset + chunk.length,
      isRight: (digest) => sameBytes(digest, chunk.hash),
      complain: () => complainHash(chunk, this.#context),
    })
  }

  addPages(shard: Chunk, table: Chunk, { pageSize, digests }: PageTable): void {
    for (const [page, expected] of digests.entries()) {
      const start = shard.offset + page * pageSize
      const end = Math.min(start + pageSize, shard.offset + shard.length)
      const complain = (): void => {
        const message = `page ${page} of ${JSON.stringify(shard.name)} (${end - start} bytes)${this.#tensorsIn(start, end)} does not have the digest in its page table`
        const path = `chunks[${table.index}].digests[${page}]`
        this.#context.report.report(codes['phsh-digest'], { offset: start, length: end - start, path, message })
      }
      this.#add({ start, end, isRight: (digest) => sameBytes(digest, expected), complain })
    }
  }

  /** Those that can be afforded; the others cannot from the first of them on. */
  tensorJobs(): ManyJobs {
    const { table } = this.#file
    const complain = (i: number, why: string): void => {
      const [start, end] = [table.startOf(i), table.endOf(i)]
      const message = `${JSON.stringify(table.tensors.nameAt(i))} in ${JSON.stringify(table.shardOf(i)!.name)} ${why}`
      const path = `tensors[${table.entryOf(i)}].hash_b3`
      this.#context.report.report(codes['tensor-hash-b3'], { offset: start, length: end - start, path, message })
    }
    let afforded = 0
    for (let i = 0; i < table.count; i++) {
      if (!table.shardOf(i)) continue
      if (table.hasMalformedHash(i)) complain(i, 'has a hash that is not 64 hexadecimal digits')
      else if (table.hasHash(i) && this.#affords(table.startOf(i), table.endOf(i))) afforded = i + 1
    }
    return manyTensors(table, afforded, (i) => complain(i, 'does not have the hash in the index'))
  }

  #add(job: HashJob): void {
    if (this.#affords(job.start, job.end)) this.jobs.push(job)
  }

  #affords(start: number, end: number): boolean {
    const isAffordable = this.#budget.affordsDigest(end - start)
    if (!isAffordable) this.#giveUp(start, end - start)
    return isAffordable
  }

  /** Whether a chunk that is read by itself can be. */
  canUnfold({ offset, length, ulen }: Chunk): boolean {
    const isAffordable = this.#budget.affords(Math.max(length, ulen))
    if (!isAffordable) this.#giveUp(offset, length)
    return isAffordable
  }

  #giveUp(offset: number, length: number): void {
    if (this.#isSpent) return
    this.#isSpent = true
    const message = `chunks, pages and tensors take more than ${mostPasses} times the work that the file is worth; the rest was not checked`
    this.#context.report.report(codes['chunk-overlap-work'], { offset, length, path: 'toc', message })
  }

  /** Names what a damaged page holds. */
  #tensorsIn(start: number, end: number): string {
    const { table } = this.#file
    if (this.#named++ >= mostNamed) return ''
    const names: string[] = []
    let count = 0
    for (let i = 0; i < table.count; i++) {
      if (table.startOf(i) >= end || table.endOf(i) <= start) continue
      if (count++ < 3) names.push(JSON.stringify(table.tensors.nameAt(i)))
    }
    return count === 0
      ? ''
      : `, which holds ${names.join(', ')}${count > names.length ? ` and ${count - names.length} more` : ''},`
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
