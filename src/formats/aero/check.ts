// Full verification: every chunk against its hash, every page against its page table, every tensor against its own hash, the control
// region against the control hash, and zeros between the chunks. The digests to compare are gathered first, as far as the file is worth the
// work, and then computed in one pass over the weights.
import { type ByteSource, coveredBytes, inOrder, joined, type Range, toHex } from '../../bytes/index.js'
import { maxPasses, WorkBudget } from '../../digest/hasher.js'
import type { CheckContext } from '../../model/index.js'
import { type DigestOptions, digestRanges, type WantedDigest } from '../../threads/index.js'
import { codes } from './codes.js'
import { type Chunk, complainHash, describeChunk, endOf, isCompressed, readChunks } from './control/chunk.js'
import { gapsOf } from './control/regions.js'
import type { AeroFile, TensorEntry } from './file.js'
import { checkControlHash } from './hash/ihsh.js'
import { parsePageTable } from './hash/phsh.js'

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

/** A range of the file and the digest that it should have, in hexadecimal digits. */
export interface Hashed extends WantedDigest {
  readonly hash: string | undefined
}

export interface HashJob extends Hashed {
  /** Called when the digest is wrong. */
  complain(): void
}

/** As many digests are computed at a time: a digest that is under way takes more memory than the tensor that it belongs to. */
const batch = 4096

/** Those that do not have their digest, in the order in which they end in the file. */
export async function findWrong<T extends Hashed>(
  source: ByteSource,
  hashed: readonly T[],
  options: DigestOptions = {},
): Promise<T[]> {
  const wrong = new Set<T>()
  const ordered = inOrder(hashed)
  for (let first = 0; first < ordered.length; first += batch) {
    const some = ordered.slice(first, first + batch)
    const digest = await digestRanges(source, some, options)
    for (const [i, each] of some.entries()) if (toHex(digest(i)) !== each.hash) wrong.add(each)
  }
  return hashed.filter((each) => wrong.has(each)).sort((a, b) => a.end - b.end)
}

/** The tensors of a damaged page are looked for among all of them, so this is done for a limited number of pages. */
const maxNamed = 100

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
    const complain = (): void => complainHash(chunk, this.#context)
    this.#add({ start: chunk.offset, end: endOf(chunk), hash: toHex(chunk.hash), complain })
  }

  /** The pages of a shard that `isWanted` chooses by where they lie; false when there is no page table that can be used. */
  async addPages(shard: Chunk, isWanted: (start: number, end: number) => boolean): Promise<boolean> {
    const table = this.#file.pageTables.get(shard)
    if (!table || !this.affordsContent(table)) return false
    const [content] = await readChunks(this.#file.source, [table], this.#context)
    const pages = content && parsePageTable(content, shard, this.#context.report)
    if (!pages) return false
    const { pageSize, digests } = pages
    for (const [page, digest] of digests.entries()) {
      const start = shard.offset + page * pageSize
      const end = Math.min(start + pageSize, endOf(shard))
      if (!isWanted(start, end)) continue
      const complain = (): void => {
        const message = `page ${page} of ${JSON.stringify(shard.name)} (${end - start} bytes)${this.#tensorsIn(start, end)} does not have the digest in its page table`
        const path = `chunks[${table.index}].digests[${page}]`
        this.#context.report.report(codes['phsh-digest'], { offset: start, length: end - start, path, message })
      }
      this.#add({ start, end, hash: toHex(digest), complain })
    }
    return true
  }

  /** Compares everything that was added, `entries` with their own hashes, and `more`, in one pass. */
  async run(entries: readonly TensorEntry[], more: readonly HashJob[] = []): Promise<void> {
    const { pool, signal } = this.#context
    const placed = entries.filter(({ shard }) => shard)
    const tensors = this.#comparable(placed)
    const options = { pool, signal, onRead: this.#countData(placed) }
    for (const wrong of await findWrong(this.#file.source, [...this.#jobs, ...tensors, ...more], options)) {
      if ('complain' in wrong) wrong.complain()
      else this.#complainTensor(wrong, 'does not have the hash in the index')
    }
  }

  /** The tensors that have a hash, as many as can be afforded. */
  #comparable(entries: readonly TensorEntry[]): TensorEntry[] {
    return entries.filter((entry) => {
      if (entry.hash === undefined) return false
      if (entry.hash !== '') return this.#affords(entry)
      this.#complainTensor(entry, 'has a hash that is not 64 hexadecimal digits')
      return false
    })
  }

  #complainTensor({ tensor, shard, index, start, end }: TensorEntry, why: string): void {
    const message = `${JSON.stringify(tensor.name)} in ${JSON.stringify(shard!.name)} ${why}`
    const place = { offset: start, length: end - start, path: `tensors[${index}].hash_b3` }
    this.#context.report.report(codes['tensor-hash-b3'], { ...place, message })
  }

  /** Reports progress. All bytes but those of the tensors count as index, which was reported before. */
  #countData(entries: readonly TensorEntry[]): (bytes: number) => void {
    let left = coveredBytes(entries)
    return (bytes) => {
      const counted = Math.min(left, bytes)
      left -= counted
      if (counted > 0) this.#context.checked(counted)
    }
  }

  #add(job: HashJob): void {
    if (this.#affords(job)) this.#jobs.push(job)
  }

  #affords({ start, end }: WantedDigest): boolean {
    const isAffordable = this.#budget.affordsDigest(end - start)
    if (!isAffordable) this.#giveUp(start, end - start)
    return isAffordable
  }

  /** Whether the content of a chunk can be read into memory. */
  affordsContent({ offset, length, ulen }: Chunk): boolean {
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
    if (this.#named++ >= maxNamed) return ''
    const inside = this.#file.entries.filter((entry) => entry.start < end && entry.end > start)
    if (inside.length === 0) return ''
    const names = inside.slice(0, 3).map(({ tensor }) => JSON.stringify(tensor.name))
    const more = inside.length > names.length ? ` and ${inside.length - names.length} more` : ''
    return `, which holds ${names.join(', ')}${more},`
  }
}
