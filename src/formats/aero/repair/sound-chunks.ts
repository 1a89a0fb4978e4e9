// Which chunks of a damaged file can go into a new one: those without an error, and those that only lack their hash.
import type { ByteSource } from '../../../bytes/index.js'
import { lowerBound } from '../../../bytes/lower-bound.js'
import { WorkBudget } from '../../../digest/hasher.js'
import { digestOf } from '../../../digest/index.js'
import type { Finding } from '../../../errors/index.js'
import { type Model, type Part, type ReadContext, rangePayload } from '../../../model/index.js'
import { codes } from '../codes.js'
import { type Chunk, describeChunk, endOf, entryPath, isBlank, isCompressed, readChunks } from '../control/chunk.js'
import { type AeroFile, chunkKind } from '../file.js'
import { type OutChunk, payloadChunk, storedChunk } from '../write/out-chunk.js'

const repairable: ReadonlySet<string> = new Set(
  (['defect-zero-hash', 'defect-empty-pages', 'defect-empty-last-shard'] as const).map((key) => codes[key].code),
)

/** Errors that are not among the defects that can be repaired. */
export const isLasting = ({ code, severity }: Finding): boolean => severity === 'error' && !repairable.has(code)

/** The chunk with a hash of its content; undefined when the content cannot be read, which is reported. */
export async function rehashed(
  chunk: Chunk,
  source: ByteSource,
  quiet: ReadContext,
  budget: WorkBudget,
): Promise<OutChunk | undefined> {
  if (!isCompressed(chunk))
    return { ...payloadChunk(chunk, rangePayload(source, chunk.offset, chunk.length)), ulen: chunk.ulen }
  if (!budget.affords(Math.max(chunk.length, chunk.ulen))) {
    const message = `${describeChunk(chunk)} and those before it decompress to more than the file is worth`
    quiet.report.report(codes['chunk-overlap-work'], { offset: chunk.offset, path: entryPath(chunk.index), message })
    return undefined
  }
  const [content] = await readChunks(source, [chunk], quiet)
  if (!content) return undefined
  const hash = await digestOf('blake3', content.bytes)
  return { ...storedChunk(chunk, source), hash, computeHash: async () => hash }
}

/** The parts without chunks that are broken, which would be wrong in a new file as well. Chunks without a hash get one. */
export async function soundParts(
  model: Model,
  { source }: AeroFile,
  findings: readonly Finding[],
  quiet: ReadContext,
): Promise<{ parts: Part[]; lost: string[] }> {
  const broken = findBroken(findings.filter(isLasting))
  const budget = new WorkBudget(source)
  const parts: Part[] = []
  const lost: string[] = []
  for (const part of model.parts) {
    const chunk = part.kind === chunkKind ? (part.content as Chunk) : undefined
    const why = chunk && broken(chunk)
    const hash = chunk && !why && isBlank(chunk.hash) ? await hashOf(chunk, source, quiet, budget) : chunk?.hash
    if (why) lost.push(why.message)
    else if (chunk && !hash) lost.push(`${describeChunk(chunk)} has no hash, and its content cannot be read`)
    else parts.push(chunk ? { ...part, content: { ...chunk, hash } } : part)
  }
  return { parts, lost }
}

async function hashOf(chunk: Chunk, source: ByteSource, quiet: ReadContext, budget: WorkBudget) {
  return (await rehashed(chunk, source, quiet, budget))?.computeHash(quiet.signal)
}

/** Finds the error in a chunk. */
export function findBroken(findings: readonly Finding[]): (chunk: Chunk) => Finding | undefined {
  const placed = findings.filter(({ severity, offset }) => severity === 'error' && offset !== undefined)
  const ordered = placed.sort((a, b) => a.offset! - b.offset!)
  return (chunk) => {
    const next = ordered[lowerBound(ordered.length, (i) => ordered[i]!.offset!, chunk.offset)]
    return next && next.offset! < Math.max(endOf(chunk), chunk.offset + 1) ? next : undefined
  }
}
