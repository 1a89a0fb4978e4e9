// Verifying some tensors alone: each against the narrowest checksum that covers its bytes. That is the tensor's own hash; without one, the
// pages that it lies in; without those, the whole chunk. Nothing else of the weights is read.
import type { CheckContext } from '../../model/index.js'
import { type Chunk, isCompressed, readChunks } from './control/chunk.js'
import type { AeroFile } from './file.js'
import { CheckJobs } from './hash/check-jobs.js'
import type { TensorTable } from './index/tensor-table.js'

export async function checkNamed(file: AeroFile, names: ReadonlySet<string>, context: CheckContext): Promise<void> {
  const { table, source } = file
  const isNamed = (i: number): boolean => names.has(table.tensors.nameAt(i))
  const jobs = new CheckJobs(file, context)
  for (const [shard, ranges] of unhashedRanges(table, isNamed)) {
    if (isCompressed(shard)) {
      if (jobs.canUnfold(shard)) await readChunks(source, [shard], context)
    } else if (!(await jobs.addPages(shard, (start, end) => ranges.touch(start, end)))) jobs.addChunk(shard)
  }
  await jobs.run(isNamed)
}

/** Where the named tensors lie that have no hash of their own, by shard. A malformed hash counts as a wrong one, so it needs no other. */
function unhashedRanges(table: TensorTable, isNamed: (i: number) => boolean): Map<Chunk, Ranges> {
  const byShard = new Map<Chunk, Ranges>()
  for (const i of table.inFileOrder()) {
    const shard = table.shardOf(i)
    if (!shard || table.hasHash(i) || table.hasMalformedHash(i) || table.startOf(i) === table.endOf(i)) continue
    if (!isNamed(i)) continue
    if (!byShard.has(shard)) byShard.set(shard, new Ranges())
    byShard.get(shard)!.add(table.startOf(i), table.endOf(i))
  }
  return byShard
}

/** Ranges that are added, and then asked for, in the order in which they begin. */
class Ranges {
  readonly #ranges: { start: number; end: number }[] = []
  #passed = 0

  add(start: number, end: number): void {
    const last = this.#ranges.at(-1)
    if (last && start <= last.end) last.end = Math.max(last.end, end)
    else this.#ranges.push({ start, end })
  }

  touch(start: number, end: number): boolean {
    while (this.#passed < this.#ranges.length && this.#ranges[this.#passed]!.end <= start) this.#passed++
    const next = this.#ranges[this.#passed]
    return next !== undefined && next.start < end
  }
}
