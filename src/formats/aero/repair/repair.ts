// Repairs files with the known defects of the reference's writers. Chunks are kept as they are stored and put into a file whose table,
// offsets and hashes are right; tensors whose bytes were overwritten are left out, and named.
import type { ByteSource } from '../../../bytes/index.js'
import { WorkBudget } from '../../../digest/hasher.js'
import { collectingReport, type Finding, TareError } from '../../../errors/index.js'
import type { ReadContext, Repair, WriteOptions } from '../../../model/index.js'
import { checkFile } from '../check.js'
import { codes } from '../codes.js'
import { type Chunk, describeChunk, isBlank, readChunks, sameBytes } from '../control/chunk.js'
import type { AeroFile, OpenFile } from '../file.js'
import { checkControlHash } from '../hash/ihsh.js'
import { layout, rewriteManifest } from '../layout.js'
import { readFile } from '../read.js'
import { buildFile } from '../write/build-file.js'
import { type OutChunk, storedChunk } from '../write/out-chunk.js'
import { withoutOverwritten } from './overwritten.js'
import { recoverToc } from './recover-toc.js'
import { isLasting, rehashed, soundParts } from './sound-chunks.js'

export async function repair(
  source: ByteSource,
  context: ReadContext,
  options: WriteOptions,
): Promise<Repair | undefined> {
  const findings: Finding[] = []
  const quiet: ReadContext = { ...context, report: collectingReport(source.name, findings) }
  let opened: OpenFile
  try {
    opened = await readFile(source, quiet)
  } catch (error) {
    if (!(error instanceof TareError) || !findings.includes(error.finding)) throw error
    return error.code === codes['defect-blank-toc'].code ? withFoundChunks(source, quiet, options) : undefined
  }
  const { model, file } = opened
  const damage = await findDamage(file, quiet)
  if (findings.some(({ code }) => code === codes['defect-overwritten-weights'].code)) {
    return withoutOverwritten(opened, [...findings, ...damage], quiet, options)
  }
  // Damaged tensors must be left out, which no repair of these defects does.
  if (damage.some(isLasting)) return undefined
  const repaired: string[] = []
  for (const { code, message } of findings) {
    if (code === codes['defect-empty-last-shard'].code) repaired.push(`${message}: the file now reaches there`)
  }
  const empty = emptyPageTables(file)
  for (const table of empty) repaired.push(`${describeChunk(table)} was left out: its shard is empty (defect D5)`)
  const content: OutChunk[] = []
  const budget = new WorkBudget(source)
  const { controlHash: ihsh } = file
  const sayHashed = (chunk: Chunk): void => void repaired.push(`${describeChunk(chunk)} has a hash now (defect D1)`)
  if (ihsh && isBlank(ihsh.hash)) sayHashed(ihsh)
  const chunks = file.control.chunks.filter((chunk) => chunk !== ihsh && !empty.has(chunk))
  for (const chunk of chunks) {
    const hashed = isBlank(chunk.hash) ? await rehashed(chunk, source, quiet, budget) : undefined
    if (hashed) sayHashed(chunk)
    // Without a page table the later chunks have other places in the table, which the manifest repeats.
    if (chunk === file.manifest && empty.size > 0) {
      const choices = { controlHash: ihsh !== undefined, tensorHashes: false, zstdLevel: undefined }
      content.push(await rewriteManifest(model, file, chunks, choices, options))
    } else content.push(hashed ?? storedChunk(chunk, source))
  }
  if (repaired.length === 0) return undefined
  const broken = remaining(findings)
  if (broken.length > 0) return withoutBroken(opened, findings, { repaired, lost: broken }, quiet, options)
  const lost = await controlDoubts(file, quiet)
  const build = { name: options.name, uuid: file.control.uuid, controlHash: ihsh !== undefined, hashFirst: false }
  return { layout: { files: [await buildFile(content, build)] }, repaired, lost }
}

/** The new file gets a control hash of its own, whatever the old one was. */
const isControlHash = (code: string): boolean => code.startsWith('aero/ihsh-')

/** What is wrong with the bytes of chunks, pages and tensors. */
async function findDamage(file: AeroFile, quiet: ReadContext): Promise<Finding[]> {
  const findings: Finding[] = []
  const report = collectingReport(file.source.name, findings)
  await checkFile(file, { ...quiet, report, extra: {}, checked() {} })
  return findings.filter(({ code }) => !isControlHash(code))
}

/** Each message once: a chunk may have been read twice. */
function remaining(findings: readonly Finding[]): string[] {
  const messages = findings.filter(isLasting).map(({ message }) => `not repaired: ${message}`)
  return [...new Set(messages)]
}

/** The new control hash matches what was found. Where the old one did not, the repair must say so. */
async function controlDoubts({ source, control, controlHash }: AeroFile, quiet: ReadContext): Promise<string[]> {
  if (!controlHash) return []
  const findings: Finding[] = []
  const context = { ...quiet, report: collectingReport(source.name, findings) }
  const [content] = await readChunks(source, [controlHash], context)
  if (content) await checkControlHash(content, control, source, context)
  return findings
    .filter(isLasting)
    .map(({ message }) => `the old control hash: ${message}; the new one vouches for what was found`)
}

/** An empty shard must have no page table at all. */
function emptyPageTables({ pageTables }: AeroFile): ReadonlySet<Chunk> {
  return new Set([...pageTables].filter(([shard]) => shard.length === 0).map(([, table]) => table))
}

/** Something beside the defects is wrong, but not with the weights: everything that could be read goes into a new file. */
async function withoutBroken(
  { model, file }: OpenFile,
  findings: readonly Finding[],
  told: Pick<Repair, 'repaired' | 'lost'>,
  quiet: ReadContext,
  options: WriteOptions,
): Promise<Repair | undefined> {
  if (file.entries.length === 0) return undefined
  const { parts, lost } = await soundParts(model, file, findings, quiet)
  const all = new Set([...told.lost, ...lost.filter((line) => !told.lost.some((each) => each.includes(line)))])
  return {
    repaired: told.repaired,
    lost: [...all],
    layout: await layout({ ...model, parts }, { ...options, rewrite: true }),
  }
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
  const repaired = [`the table of contents was rebuilt from ${found.chunks.length} chunks that were found (defect D4)`]
  if (isProven) repaired.push('the control hash of the file confirms the new table')
  const lost = ['the hashes of the chunks: the new ones vouch for what was found, not for what was written']
  if (!isProven) lost.push('names and flags of the chunks: the control hash does not confirm the default ones')
  return { layout: { files: [file] }, repaired, lost }
}
