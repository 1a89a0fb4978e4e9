// Files whose index lies over the weights (defect D2). What is under it is lost, everything else is written into a new file.
import { lowerBound } from '../../../bytes/lower-bound.js'
import { WorkBudget } from '../../../digest/hasher.js'
import type { Finding } from '../../../errors/index.js'
import type { ReadContext, Repair, WriteOptions } from '../../../model/index.js'
import { findWrong } from '../check.js'
import { codes } from '../codes.js'
import { type Chunk, describeChunk, endOf } from '../control/chunk.js'
import type { AeroFile, OpenFile, TensorEntry } from '../file.js'
import { layout } from '../layout.js'
import { findBroken, soundParts } from './sound-chunks.js'

/** Undefined when no tensor is left. */
export async function withoutOverwritten(
  { model, file }: OpenFile,
  findings: readonly Finding[],
  quiet: ReadContext,
  options: WriteOptions,
): Promise<Repair | undefined> {
  const { entries, control } = file
  if (entries.length === 0) return undefined
  const coverOf = findCovers(control.chunks.filter((chunk) => chunk.fourcc !== 'WTSH' && chunk.length > 0))
  const lost: string[] = []
  const wrong = await wrongTensors(file, options.signal)
  const broken = findBroken(findings.filter(({ code }) => code === codes['chunk-hash'].code))
  // A shard that was overwritten has a wrong hash, which says nothing about the rest of it.
  const shardDamage = (shard: Chunk | undefined): string | undefined =>
    shard && !coverOf(shard.offset, endOf(shard)) ? broken(shard)?.message : undefined
  const kept = entries.filter((entry) => {
    const { tensor, start, end, hash, shard } = entry
    const over = start < end ? coverOf(start, end) : undefined
    if (!over) {
      const why = wrong.get(entry) ?? (start < end && !hash ? shardDamage(shard) : undefined)
      if (why !== undefined) lost.push(`${JSON.stringify(tensor.name)}: ${why}`)
      return why === undefined
    }
    const bytes = Math.min(end, endOf(over)) - Math.max(start, over.offset)
    lost.push(
      `${JSON.stringify(tensor.name)}: ${bytes} of its ${end - start} bytes were overwritten by ${describeChunk(over)}`,
    )
    return false
  })
  if (kept.length === 0) return undefined
  const { parts, lost: brokenParts } = await soundParts(model, file, findings, quiet)
  for (const each of brokenParts) lost.push(each)
  const tensors = kept.map(({ tensor }) => tensor)
  const repaired = [
    `index and weights no longer share bytes (defect D2); ${kept.length === 1 ? '1 tensor was' : `${kept.length} tensors were`} kept`,
  ]
  return { layout: await layout({ ...model, tensors, parts }, { ...options, rewrite: true }), repaired, lost }
}

/** Finds which of the chunks lies over a range. */
function findCovers(chunks: readonly Chunk[]): (start: number, end: number) => Chunk | undefined {
  const ordered = chunks.toSorted((a, b) => a.offset - b.offset)
  // For each chunk, the one that reaches furthest up to there.
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

/** Tensors that are damaged elsewhere, or cannot be compared in reasonable time: a new file must not vouch for them. */
async function wrongTensors(
  { entries, source }: AeroFile,
  signal: AbortSignal | undefined,
): Promise<Map<TensorEntry, string>> {
  const wrong = new Map<TensorEntry, string>()
  const budget = new WorkBudget(source)
  const comparable = entries.filter((entry) => {
    if (!entry.hash) return false
    if (budget.affordsDigest(entry.end - entry.start)) return true
    wrong.set(entry, 'its hash was not compared: tensors share bytes too often')
    return false
  })
  for (const entry of await findWrong(source, comparable, { signal }))
    wrong.set(entry, 'its bytes do not have the hash in the index')
  return wrong
}
