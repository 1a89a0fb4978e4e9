// Files whose index lies over the weights (defect D2). What is under it is lost, everything else is written into a file of its own.
import { lowerBound } from '../../../bytes/lower-bound.js'
import type { Finding } from '../../../errors/index.js'
import type { Model, ReadContext, Repair, WriteOptions } from '../../../model/index.js'
import { WorkBudget } from '../../../writing/work-budget.js'
import { codes } from '../codes.js'
import { type Chunk, describeChunk } from '../control/chunk.js'
import type { AeroFile } from '../file.js'
import { runHashJobs } from '../hash/hash-jobs.js'
import { manyTensors } from '../hash/tensor-jobs.js'
import { layout } from '../layout.js'
import { endOf, findBroken, soundParts } from './sound-chunks.js'

/** Undefined when no tensor is left. */
export async function withoutOverwritten(
  model: Model,
  file: AeroFile,
  findings: readonly Finding[],
  quiet: ReadContext,
  options: WriteOptions,
): Promise<Repair | undefined> {
  const { table, control } = file
  if (table.count === 0) return undefined
  const coverOf = findCovers(control.chunks.filter((chunk) => chunk.fourcc !== 'WTSH' && chunk.length > 0))
  const lost: string[] = []
  const wrong = await wrongTensors(file, options.signal)
  const broken = findBroken(findings.filter(({ code }) => code === codes['chunk-hash'].code))
  // That the hash of a shard which was overwritten is wrong says nothing about the rest of it.
  const shardDamage = (shard: Chunk | undefined): string | undefined =>
    shard && !coverOf(shard.offset, endOf(shard)) ? broken(shard)?.message : undefined
  const kept = table.tensors.filter((tensor, i) => {
    const start = table.startOf(i)
    const end = table.endOf(i)
    const over = start < end ? coverOf(start, end) : undefined
    if (!over) {
      const why = wrong.get(i) ?? (start < end && !table.hasHash(i) ? shardDamage(table.shardOf(i)) : undefined)
      if (why !== undefined) lost.push(`${JSON.stringify(tensor.name)}: ${why}`)
      return why === undefined
    }
    const bytes = Math.min(end, over.offset + over.length) - Math.max(start, over.offset)
    lost.push(
      `${JSON.stringify(tensor.name)}: ${bytes} of its ${end - start} bytes were overwritten by ${describeChunk(over)}`,
    )
    return false
  })
  if (kept.length === 0) return undefined
  const { parts, lost: brokenParts } = await soundParts(model, file, findings, quiet)
  lost.push(...brokenParts)
  const layoutOf = await layout({ ...model, tensors: kept, parts }, { ...options, rewrite: true })
  const repaired = [
    `index and weights no longer share bytes (defect D2); ${kept.length === 1 ? '1 tensor was' : `${kept.length} tensors were`} kept`,
  ]
  return { layout: layoutOf, repaired, lost }
}

/** Finds which of the chunks lies over a stretch; there can be many of both. */
function findCovers(chunks: readonly Chunk[]): (start: number, end: number) => Chunk | undefined {
  const ordered = chunks.toSorted((a, b) => a.offset - b.offset)
  // Each with the one that reaches furthest up to there.
  const furthest: Chunk[] = []
  for (const chunk of ordered) {
    const before = furthest.at(-1)
    furthest.push(before && endOf(before) >= endOf(chunk) ? before : chunk)
  }
  return (start, end) => {
    const over = furthest[lowerBound(ordered.length, (i) => ordered[i]!.offset, end) - 1]
    return over && endOf(over) > start ? over : undefined
  }
}

/** Tensors whose bytes are damaged elsewhere; a new file must not vouch for them, nor for those that nobody can compare in time. */
async function wrongTensors(
  { table, source }: AeroFile,
  signal: AbortSignal | undefined,
): Promise<Map<number, string>> {
  const wrong = new Map<number, string>()
  const budget = new WorkBudget(source)
  let afforded = 0
  for (let i = 0; i < table.count; i++) {
    if (!table.hasHash(i)) continue
    const [start, end] = [table.startOf(i), table.endOf(i)]
    if (budget.affordsDigest(end - start)) afforded = i + 1
    else wrong.set(i, 'its hash was not compared: tensors share bytes too often')
  }
  const many = manyTensors(
    table,
    (i) => i < afforded,
    (i) => wrong.set(i, 'its bytes do not have the hash in the index'),
  )
  await runHashJobs(source, { first: [], many }, { signal })
  return wrong
}
