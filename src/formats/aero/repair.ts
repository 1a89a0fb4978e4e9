// Mends files with the known defects of the reference's writers. Chunks are kept as they are stored and put into a file whose table,
// offsets and hashes are right; tensors whose bytes were overwritten are gone, and named.
import type { ByteSource } from '../../bytes/index.js'
import { digestOf } from '../../digest/index.js'
import { collectingReport, type Finding, TareError } from '../../errors/index.js'
import type { Model, ReadContext, Repair, WriteOptions } from '../../model/index.js'
import { rangePayload } from '../../model/index.js'
import { buildFile } from './build-file.js'
import { type Chunk, describeChunk, isBlank, isCompressed, readChunks, sameBytes } from './chunk.js'
import { codes } from './codes.js'
import { type AeroFile, controlHashOf, fileOf, pageTablesOf } from './file.js'
import { runHashJobs } from './hash-jobs.js'
import { layout, remakeManifest } from './layout.js'
import { type OutChunk, payloadChunk, storedChunk } from './out-chunk.js'
import { parsePageTable } from './phsh.js'
import { readFile } from './read.js'
import { recoverToc } from './recover-toc.js'

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
  if (findings.some(({ code }) => code === codes['defect-overwritten-weights'].code)) {
    return withoutOverwritten(model, file, options)
  }
  const mended: string[] = []
  for (const { code, message } of findings) {
    if (code === codes['defect-empty-last-shard'].code) mended.push(`${message}: the file now reaches there`)
  }
  const empty = await emptyPageTables(file, quiet)
  for (const table of empty) mended.push(`${describeChunk(table)} was left out: its shard is empty (defect D5)`)
  const content: OutChunk[] = []
  const ihsh = controlHashOf(file)
  const chunks = file.control.chunks.filter((chunk) => chunk !== ihsh && !empty.has(chunk))
  for (const chunk of chunks) {
    const isUnhashed = isBlank(chunk.hash)
    if (isUnhashed) mended.push(`${describeChunk(chunk)} has a hash now (defect D1)`)
    // Without a page table the later chunks have other places in the table, which the manifest repeats.
    if (chunk === file.manifest && empty.size > 0) {
      content.push(
        await remakeManifest(model, file, chunks, {
          controlHash: ihsh !== undefined,
          tensorHashes: false,
          zstdLevel: undefined,
        }),
      )
    } else content.push(isUnhashed ? await rehashed(chunk, source, quiet) : storedChunk(chunk, source))
  }
  if (mended.length === 0) return undefined
  const build = { name: options.name, uuid: file.control.uuid, controlHash: ihsh !== undefined, hashFirst: false }
  return { layout: { files: [await buildFile(content, build)] }, mended, lost: remaining(findings) }
}

const mendable: ReadonlySet<string> = new Set(
  (['defect-zero-hash', 'defect-empty-pages', 'defect-empty-last-shard'] as const).map((key) => codes[key].code),
)

/** Errors that have nothing to do with the defects stay what they are. */
function remaining(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ code, severity }) => severity === 'error' && !mendable.has(code))
    .map(({ message }) => `not mended: ${message}`)
}

async function emptyPageTables(file: AeroFile, quiet: ReadContext): Promise<Set<Chunk>> {
  const empty = new Set<Chunk>()
  for (const [shard, table] of pageTablesOf(file)) {
    if (shard.length > 0) continue
    const [content] = await readChunks(file.source, [table], quiet)
    if (content && !parsePageTable(content, shard, quiet.report)) empty.add(table)
  }
  return empty
}

async function rehashed(chunk: Chunk, source: ByteSource, quiet: ReadContext): Promise<OutChunk> {
  if (!isCompressed(chunk))
    return { ...payloadChunk(chunk, rangePayload(source, chunk.offset, chunk.length)), ulen: chunk.ulen }
  const [content] = await readChunks(source, [chunk], quiet)
  const stored = storedChunk(chunk, source)
  if (!content) return stored
  const hash = await digestOf('blake3', content.bytes)
  return { ...stored, hash, computeHash: async () => hash }
}

/** The index lies over the weights: what is under it is lost, everything else is written into a file of its own. */
async function withoutOverwritten(model: Model, file: AeroFile, options: WriteOptions): Promise<Repair> {
  const { table, control } = file
  const others = control.chunks.filter((chunk) => chunk.fourcc !== 'WTSH' && chunk.length > 0)
  const lost: string[] = []
  const wrong = await wrongTensors(file, options.signal)
  const kept = table.tensors.filter((tensor, i) => {
    const start = table.starts[i]!
    const end = table.ends[i]!
    const over = others.find((chunk) => chunk.offset < end && chunk.offset + chunk.length > start)
    if (!over || start === end) {
      if (wrong.has(i)) lost.push(`${JSON.stringify(tensor.name)}: its bytes do not have the hash in the index`)
      return !wrong.has(i)
    }
    const bytes = Math.min(end, over.offset + over.length) - Math.max(start, over.offset)
    lost.push(
      `${JSON.stringify(tensor.name)}: ${bytes} of its ${end - start} bytes were overwritten by ${describeChunk(over)}`,
    )
    return false
  })
  const layoutOf = await layout({ ...model, tensors: kept }, options)
  const mended = [
    `index and weights no longer share bytes (defect D2); ${kept.length === 1 ? '1 tensor was' : `${kept.length} tensors were`} kept`,
  ]
  return { layout: layoutOf, mended, lost }
}

/** Tensors whose bytes are damaged elsewhere; a new file must not vouch for them. */
async function wrongTensors({ table, source }: AeroFile, signal: AbortSignal | undefined): Promise<Set<number>> {
  const wrong = new Set<number>()
  const jobs = table.tensors.flatMap((_, i) => {
    const expected = table.hashOf(i)
    if (!expected) return []
    const done = (digest: Uint8Array): void => {
      if (!sameBytes(digest, expected)) wrong.add(i)
    }
    return [{ start: table.starts[i]!, end: table.ends[i]!, done }]
  })
  await runHashJobs(source, jobs, { signal })
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
  for (const chunk of found.chunks) content.push(await rehashed(chunk, source, quiet))
  const file = await buildFile(content, { name: options.name, uuid: found.uuid, controlHash: true, hashFirst: false })
  const hash = [...file.slots].find((slot) => slot.path === 'control.integrity')
  const isProven = hash?.kind === 'bytes' && sameBytes(hash.bytes, found.controlHash)
  const mended = [`the table of contents was made anew from ${found.chunks.length} chunks that were found (defect D4)`]
  if (isProven) mended.push('the control hash of the file confirms the new table')
  const lost = ['the hashes of the chunks: the new ones vouch for what was found, not for what was written']
  if (!isProven) lost.push('names and flags of the chunks: the control hash does not confirm the usual ones')
  return { layout: { files: [file] }, mended, lost }
}
