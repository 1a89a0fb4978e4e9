// Mends files with the known defects of the reference's writers. Chunks are kept as they are stored and put into a file whose table,
// offsets and hashes are right; tensors whose bytes were overwritten are gone, and named.
import { firstFrom } from '../../bytes/first-from.js'
import type { ByteSource } from '../../bytes/index.js'
import { digestOf } from '../../digest/index.js'
import { collectingReport, type Finding, TareError } from '../../errors/index.js'
import type { Model, Part, ReadContext, Repair, WriteOptions } from '../../model/index.js'
import { rangePayload } from '../../model/index.js'
import { WorkBudget } from '../../model/work-budget.js'
import { buildFile } from './build-file.js'
import { checkFile } from './check.js'
import { type Chunk, describeChunk, entryPath, isBlank, isCompressed, readChunks, sameBytes } from './chunk.js'
import { codes } from './codes.js'
import { type AeroFile, chunkKind, controlHashOf, fileOf, pageTablesOf } from './file.js'
import { runHashJobs } from './hash-jobs.js'
import { checkControlHash } from './ihsh.js'
import { layout, remakeManifest } from './layout.js'
import { type OutChunk, payloadChunk, storedChunk } from './out-chunk.js'
import { readFile } from './read.js'
import { recoverToc } from './recover-toc.js'
import { manyTensors } from './tensor-jobs.js'

export async function repair(
  source: ByteSource,
  context: ReadContext,
  options: WriteOptions,
): Promise<Repair | undefined> {
  const findings: Finding[] = []
  const quiet: ReadContext = { ...context, report: collectingReport(source.name, findings) }
  let model: Model
  try {
    model = await readFile(source, quiet)
  } catch (error) {
    if (!(error instanceof TareError) || !findings.includes(error.finding)) throw error
    return error.code === codes['defect-blank-toc'].code ? withFoundChunks(source, quiet, options) : undefined
  }
  const file = fileOf(model)!
  const damage = await findDamage(file, quiet)
  if (findings.some(({ code }) => code === codes['defect-overwritten-weights'].code)) {
    return withoutOverwritten(model, file, [...findings, ...damage], quiet, options)
  }
  // Tensors that are damaged must be left out, which is more than any of these defects asks for.
  if (damage.some(isLasting)) return undefined
  const mended: string[] = []
  for (const { code, message } of findings) {
    if (code === codes['defect-empty-last-shard'].code) mended.push(`${message}: the file now reaches there`)
  }
  const empty = emptyPageTables(file)
  for (const table of empty) mended.push(`${describeChunk(table)} was left out: its shard is empty (defect D5)`)
  const content: OutChunk[] = []
  const budget = new WorkBudget(source)
  const ihsh = controlHashOf(file)
  const sayHashed = (chunk: Chunk): void => void mended.push(`${describeChunk(chunk)} has a hash now (defect D1)`)
  if (ihsh && isBlank(ihsh.hash)) sayHashed(ihsh)
  const chunks = file.control.chunks.filter((chunk) => chunk !== ihsh && !empty.has(chunk))
  for (const chunk of chunks) {
    const hashed = isBlank(chunk.hash) ? await rehashed(chunk, source, quiet, budget) : undefined
    if (hashed) sayHashed(chunk)
    // Without a page table the later chunks have other places in the table, which the manifest repeats.
    if (chunk === file.manifest && empty.size > 0) {
      content.push(
        await remakeManifest(
          model,
          file,
          chunks,
          { controlHash: ihsh !== undefined, tensorHashes: false, zstdLevel: undefined },
          options,
        ),
      )
    } else content.push(hashed ?? storedChunk(chunk, source))
  }
  if (mended.length === 0) return undefined
  const broken = remaining(findings)
  if (broken.length > 0) return withoutBroken(model, file, findings, { mended, lost: broken }, quiet, options)
  const lost = await controlDoubts(file, ihsh, quiet)
  const build = { name: options.name, uuid: file.control.uuid, controlHash: ihsh !== undefined, hashFirst: false }
  return { layout: { files: [await buildFile(content, build)] }, mended, lost }
}

const mendable: ReadonlySet<string> = new Set(
  (['defect-zero-hash', 'defect-empty-pages', 'defect-empty-last-shard'] as const).map((key) => codes[key].code),
)

/** The new control hash is right, whatever the old one was. */
const isControlHash = (code: string): boolean => code.startsWith('aero/ihsh-')

/** What is wrong with the bytes of chunks, pages and tensors. */
async function findDamage(file: AeroFile, quiet: ReadContext): Promise<Finding[]> {
  const findings: Finding[] = []
  const report = collectingReport(file.source.name, findings)
  await checkFile(file, { ...quiet, report, extra: {}, checked() {} })
  return findings.filter(({ code }) => !isControlHash(code))
}

/** Errors that have nothing to do with the defects stay what they are. */
const isLasting = ({ code, severity }: Finding): boolean => severity === 'error' && !mendable.has(code)

/** One chunk may have been read twice. */
function remaining(findings: readonly Finding[]): string[] {
  const messages = findings.filter(isLasting).map(({ message }) => `not mended: ${message}`)
  return [...new Set(messages)]
}

/** The new control hash fits what was found. Where the old one did not, it must not look as if it had. */
async function controlDoubts({ source, control }: AeroFile, ihsh: Chunk | undefined, quiet: ReadContext) {
  if (!ihsh) return []
  const findings: Finding[] = []
  const context = { ...quiet, report: collectingReport(source.name, findings) }
  const [content] = await readChunks(source, [ihsh], context)
  if (content) await checkControlHash(content, control, source, context)
  return findings
    .filter(isLasting)
    .map(({ message }) => `the old control hash: ${message}; the new one vouches for what was found`)
}

/** No page table is right for an empty shard, whatever it says. */
function emptyPageTables(file: AeroFile): ReadonlySet<Chunk> {
  return new Set([...pageTablesOf(file)].filter(([shard]) => shard.length === 0).map(([, table]) => table))
}

/** The chunk with a hash of its content; undefined when that cannot be had, which is reported. */
async function rehashed(
  chunk: Chunk,
  source: ByteSource,
  quiet: ReadContext,
  budget: WorkBudget,
): Promise<OutChunk | undefined> {
  if (!isCompressed(chunk))
    return { ...payloadChunk(chunk, rangePayload(source, chunk.offset, chunk.length)), ulen: chunk.ulen }
  if (!budget.affords(Math.max(chunk.length, chunk.ulen))) {
    const message = `${describeChunk(chunk)} and those before it unfold to more than the file is worth`
    quiet.report.report(codes['chunk-overlap-work'], { offset: chunk.offset, path: entryPath(chunk.index), message })
    return undefined
  }
  const [content] = await readChunks(source, [chunk], quiet)
  if (!content) return undefined
  const hash = await digestOf('blake3', content.bytes)
  return { ...storedChunk(chunk, source), hash, computeHash: async () => hash }
}

/** The index lies over the weights: what is under it is lost, everything else is written into a file of its own. */
async function withoutOverwritten(
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
  const layoutOf = await layout({ ...model, tensors: kept, parts }, { ...options, anew: true })
  const mended = [
    `index and weights no longer share bytes (defect D2); ${kept.length === 1 ? '1 tensor was' : `${kept.length} tensors were`} kept`,
  ]
  return { layout: layoutOf, mended, lost }
}

/** Something beside the defects is wrong, but not with the weights: everything that could be read goes into a file that is laid out anew. */
async function withoutBroken(
  model: Model,
  file: AeroFile,
  findings: readonly Finding[],
  told: Pick<Repair, 'mended' | 'lost'>,
  quiet: ReadContext,
  options: WriteOptions,
): Promise<Repair | undefined> {
  if (file.table.count === 0) return undefined
  const { parts, lost } = await soundParts(model, file, findings, quiet)
  const all = new Set([...told.lost, ...lost.filter((line) => !told.lost.some((each) => each.includes(line)))])
  return { mended: told.mended, lost: [...all], layout: await layout({ ...model, parts }, { ...options, anew: true }) }
}

/** The parts without chunks that are broken; these would be wrong in a new file as well. Those without a hash get one. */
async function soundParts(
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
    else if (chunk && !hash) lost.push(`${describeChunk(chunk)} has no hash, and what it holds cannot be had`)
    else parts.push(chunk ? { ...part, content: { ...chunk, hash } } : part)
  }
  return { parts, lost }
}

async function hashOf(chunk: Chunk, source: ByteSource, quiet: ReadContext, budget: WorkBudget) {
  return (await rehashed(chunk, source, quiet, budget))?.computeHash(quiet.signal)
}

const endOf = ({ offset, length }: Chunk): number => offset + length

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
    const over = furthest[firstFrom(ordered.length, (i) => ordered[i]!.offset, end) - 1]
    return over && endOf(over) > start ? over : undefined
  }
}

/** Finds the error in a chunk. */
function findBroken(findings: readonly Finding[]): (chunk: Chunk) => Finding | undefined {
  const placed = findings.filter(({ severity, offset }) => severity === 'error' && offset !== undefined)
  const ordered = placed.sort((a, b) => a.offset! - b.offset!)
  return (chunk) => {
    const next = ordered[firstFrom(ordered.length, (i) => ordered[i]!.offset!, chunk.offset)]
    return next && next.offset! < Math.max(endOf(chunk), chunk.offset + 1) ? next : undefined
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

/** The table was overwritten, the chunks were not. The control hash, made before, tells whether the new table is the old one. */
async function withFoundChunks(
  source: ByteSource,
  quiet: ReadContext,
  options: WriteOptions,
): Promise<Repair | undefined> {
  const found = await recoverToc(source, quiet)
  if (!found) return undefined
  const content: OutChunk[] = []
  const budget = new WorkBudget(source)
  for (const chunk of found.chunks) {
    const hashed = await rehashed(chunk, source, quiet, budget)
    if (!hashed) return undefined
    content.push(hashed)
  }
  const file = await buildFile(content, { name: options.name, uuid: found.uuid, controlHash: true, hashFirst: false })
  const hash = [...file.slots].find((slot) => slot.path === 'control.integrity')
  const isProven = hash?.kind === 'bytes' && sameBytes(hash.bytes, found.controlHash)
  const mended = [`the table of contents was made anew from ${found.chunks.length} chunks that were found (defect D4)`]
  if (isProven) mended.push('the control hash of the file confirms the new table')
  const lost = ['the hashes of the chunks: the new ones vouch for what was found, not for what was written']
  if (!isProven) lost.push('names and flags of the chunks: the control hash does not confirm the usual ones')
  return { layout: { files: [file] }, mended, lost }
}
