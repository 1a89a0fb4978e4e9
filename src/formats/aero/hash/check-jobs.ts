// The digests that verifying compares: those of chunks, of pages and of tensors. They are gathered first, as far as the file is worth the
// work, and then run in one pass over the weights.
import type { CheckContext } from '../../../model/index.js'
import { maxPasses, WorkBudget } from '../../../writing/work-budget.js'
import { codes } from '../codes.js'
import { type Chunk, complainHash, readChunks, sameBytes } from '../control/chunk.js'
import { type AeroFile, pageTablesOf } from '../file.js'
import { type HashJob, type ManyJobs, runHashJobs } from './hash-jobs.js'
import { parsePageTable } from './phsh.js'
import { manyTensors } from './tensor-jobs.js'

/** Looking for the tensors of a page goes over all of them; after so many damaged pages nobody reads the names. */
const maxNamed = 100

/** The digests that a check compares; what is wrong is reported when they run. */
export class CheckJobs {
  readonly #jobs: HashJob[] = []
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

  /** The pages of a shard that `isWanted` chooses by where they lie; false when there is no page table that can be used. */
  async addPages(shard: Chunk, isWanted: (start: number, end: number) => boolean): Promise<boolean> {
    const table = pageTablesOf(this.#file).get(shard)
    if (!table || !this.canUnfold(table)) return false
    const [content] = await readChunks(this.#file.source, [table], this.#context)
    const pages = content && parsePageTable(content, shard, this.#context.report)
    if (!pages) return false
    const { pageSize, digests } = pages
    for (const [page, expected] of digests.entries()) {
      const start = shard.offset + page * pageSize
      const end = Math.min(start + pageSize, shard.offset + shard.length)
      if (!isWanted(start, end)) continue
      const complain = (): void => {
        const message = `page ${page} of ${JSON.stringify(shard.name)} (${end - start} bytes)${this.#tensorsIn(start, end)} does not have the digest in its page table`
        const path = `chunks[${table.index}].digests[${page}]`
        this.#context.report.report(codes['phsh-digest'], { offset: start, length: end - start, path, message })
      }
      this.#add({ start, end, isRight: (digest) => sameBytes(digest, expected), complain })
    }
    return true
  }

  /** Compares everything that was added, the tensors that `isWanted` chooses with their own hashes, and `more`, in one pass. */
  async run(isWanted: (i: number) => boolean, more: readonly HashJob[] = []): Promise<void> {
    const { pool, signal } = this.#context
    const work = { first: this.#jobs, many: this.#tensorJobs(isWanted), last: more }
    await runHashJobs(this.#file.source, work, { pool, signal, onRead: this.#countData(isWanted) })
  }

  /** Those that can be afforded; the others cannot from the first of them on. */
  #tensorJobs(isWanted: (i: number) => boolean): ManyJobs {
    const { table } = this.#file
    const complain = (i: number, why: string): void => {
      const [start, end] = [table.startOf(i), table.endOf(i)]
      const message = `${JSON.stringify(table.tensors.nameAt(i))} in ${JSON.stringify(table.shardOf(i)!.name)} ${why}`
      const path = `tensors[${table.entryOf(i)}].hash_b3`
      this.#context.report.report(codes['tensor-hash-b3'], { offset: start, length: end - start, path, message })
    }
    let afforded = 0
    for (let i = 0; i < table.count; i++) {
      if (!table.shardOf(i) || !isWanted(i)) continue
      if (table.hasMalformedHash(i)) complain(i, 'has a hash that is not 64 hexadecimal digits')
      else if (table.hasHash(i) && this.#affords(table.startOf(i), table.endOf(i))) afforded = i + 1
    }
    const isAfforded = (i: number): boolean => i < afforded && isWanted(i)
    return manyTensors(table, isAfforded, (i) => complain(i, 'does not have the hash in the index'))
  }

  /** Everything but the tensors was counted as index already. */
  #countData(isWanted: (i: number) => boolean): (bytes: number) => void {
    const { table } = this.#file
    let left = 0
    let reached = 0
    for (const i of table.inFileOrder()) {
      if (!table.shardOf(i) || !isWanted(i)) continue
      left += Math.max(0, table.endOf(i) - Math.max(reached, table.startOf(i)))
      reached = Math.max(reached, table.endOf(i))
    }
    return (bytes) => {
      const counted = Math.min(left, bytes)
      left -= counted
      if (counted > 0) this.#context.checked(counted)
    }
  }

  #add(job: HashJob): void {
    if (this.#affords(job.start, job.end)) this.#jobs.push(job)
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
    const message = `chunks, pages and tensors take more than ${maxPasses} times the work that the file is worth; the rest was not checked`
    this.#context.report.report(codes['chunk-overlap-work'], { offset, length, path: 'toc', message })
  }

  /** Names what a damaged page holds. */
  #tensorsIn(start: number, end: number): string {
    const { table } = this.#file
    if (this.#named++ >= maxNamed) return ''
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
