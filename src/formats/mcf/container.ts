// The outer layer: a header of 40 bytes, and a directory that lists the sections. There is no checksum; the file's own size in the header
// is the only thing that shows a cut.
import {
  type ByteSource,
  Cursor,
  gaps,
  inOrder,
  overlaps,
  type Range,
  type StructValues,
  toSafe,
} from '../../bytes/index.js'
import { type Code, neededSize } from '../../errors/index.js'
import type { ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import { reportToVerifier } from './report.js'
import { rangeOf, type Section, sectionName } from './sections.js'
import { flagAligned64, header, magic, sectionRecord } from './structs.js'

export interface Container {
  readonly header: StructValues<typeof header>
  /** Sections whose place is sound, in the order of the directory. */
  readonly sections: readonly Section[]
  readonly directory: { readonly offset: number; readonly size: number }
  /** Bytes that belong to none of them. */
  readonly gaps: readonly Range[]
}

/** Honest files have about a dozen sections. */
const maxDirectorySize = 1 << 20
const u64Limit = 2n ** 64n

export async function readContainer(source: ByteSource, context: ReadContext): Promise<Container> {
  const { report, extents, signal } = context
  if (source.size < header.size) {
    const message = `the header takes ${header.size} bytes, the file has ${source.size}`
    const place = { offset: 0, length: source.size, path: 'header' }
    report.fail(codes['file-shorter-than-header'], { ...place, needs: header.size, message })
  }
  const cursor = new Cursor(await source.read(0, header.size, { signal }), report, { extents, path: ['header'] })
  const values = header.read(cursor)
  checkHeader(values, source.size, context)
  const directory = await readDirectory(source, values, context)
  return { header: values, ...directory }
}

function checkHeader(values: StructValues<typeof header>, size: number, { report, extents }: ReadContext): void {
  const at = (field: keyof typeof values & string, name: string) => ({
    offset: header.offsetOf(field),
    path: `header.${name}`,
  })
  if (values.magic.some((byte, i) => byte !== magic[i])) {
    const message = values.magic.every((byte) => byte === 0)
      ? 'zeros in place of "MCF": the writer was interrupted before it finished'
      : 'the first four bytes are not "MCF" and a zero'
    report.fail(codes.magic, { ...at('magic', 'magic'), length: 4, message })
  }
  if (values.headerSize < header.size) {
    const message = `${values.headerSize} bytes, at least ${header.size} are needed`
    report.fail(codes['header-size-too-small'], { ...at('headerSize', 'header_size'), length: 4, message })
  }
  if (values.sectionCount === 0) {
    const message = 'no sections are announced'
    report.fail(codes['section-count-zero'], { ...at('sectionCount', 'section_count'), length: 4, message })
  }
  if (values.major !== 1) {
    const message = `version ${values.major}.${values.minor}, only 1.x is known`
    report.fail(codes['major-version'], { ...at('major', 'major'), length: 2, message })
  }
  if (values.fileSize !== BigInt(size)) {
    const message = `the header says ${values.fileSize} bytes, the file has ${size}`
    const place = at('fileSize', 'file_size')
    report.report(codes['file-size'], { ...place, length: 8, message, ...neededSize(values.fileSize) })
  }
  if (values.headerSize > size) {
    const message = `${values.headerSize} bytes, the file has ${size}`
    report.fail(codes['header-size-over-file'], { ...at('headerSize', 'header_size'), length: 4, message })
  }
  const extra = { offset: header.size, length: values.headerSize - header.size, path: 'header.extra' }
  if (extra.length > 0) {
    report.report(codes['header-extra'], { ...extra, message: `${extra.length} bytes of the header are unknown` })
    extents?.add({ file: report.file, kind: 'field', ...extra })
  }
  if (values.flags > flagAligned64) {
    const message = `the flags are 0x${values.flags.toString(16)}`
    report.report(codes['unknown-flags'], { ...at('flags', 'flags'), length: 8, message })
  }
}

async function readDirectory(
  source: ByteSource,
  { headerSize, sectionCount, sectionDirOffset }: StructValues<typeof header>,
  context: ReadContext,
): Promise<Pick<Container, 'sections' | 'directory' | 'gaps'>> {
  const { report, extents, signal } = context
  const at = { offset: header.offsetOf('sectionDirOffset'), length: 8, path: 'header.section_dir_offset' }
  const size = sectionCount * sectionRecord.size
  if (sectionDirOffset < BigInt(headerSize)) {
    const message = `the directory begins at ${sectionDirOffset}, the header ends at ${headerSize}`
    report.fail(codes['directory-inside-header'], { ...at, message })
  }
  const offset = toSafe(sectionDirOffset) ?? Number.POSITIVE_INFINITY
  if (offset + size > source.size) {
    const message = `${sectionCount} entries from ${sectionDirOffset} on end after the file, which has ${source.size} bytes`
    report.fail(codes['directory-out-of-bounds'], { ...at, message })
  }
  if (size > maxDirectorySize) {
    const message = `${sectionCount} sections are announced; at most ${Math.floor(maxDirectorySize / sectionRecord.size)} are read`
    report.fail(codes['directory-over-limit'], { ...at, message })
  }
  const bytes = await source.read(offset, size, { signal })
  const cursor = new Cursor(bytes, report, { base: offset, extents, path: ['sections'] })
  const directory = { offset, size }
  const sections: Section[] = []
  for (let index = 0; index < sectionCount; index++) {
    cursor.enter(index)
    const record = sectionRecord.read(cursor)
    cursor.leave()
    const wrong = misplaced(record, headerSize, directory, source.size)
    const { type, version } = record
    if (!wrong) sections.push({ type, version, offset: Number(record.offset), size: Number(record.size), index })
    else {
      const field = wrong.field === 'size' ? 'size' : 'offset'
      const place = offset + index * sectionRecord.size + sectionRecord.offsetOf(field)
      const message = `${sectionName(type)} at ${record.offset} with ${record.size} bytes: ${wrong.message}`
      report.report(wrong.code, { offset: place, length: 8, path: `sections[${index}].${field}`, message })
    }
  }
  checkDuplicates(sections, directory, context)
  const free = checkOverlaps(sections, directory, headerSize, source.size, context)
  return { sections, directory, gaps: free }
}

interface Misplaced {
  readonly code: Code
  readonly field: 'offset' | 'size'
  readonly message: string
}

/** In the reference's order. An empty section may touch the directory's edges, but not lie inside it. */
function misplaced(
  { offset, size }: StructValues<typeof sectionRecord>,
  headerSize: number,
  directory: Container['directory'],
  fileSize: number,
): Misplaced | undefined {
  const end = offset + size
  if (size > BigInt(fileSize))
    return { code: codes['section-size-over-file'], field: 'size', message: `the file has ${fileSize} bytes` }
  if (end >= u64Limit)
    return { code: codes['section-offset-overflow'], field: 'offset', message: 'its end is beyond 64 bits' }
  if (end > BigInt(fileSize))
    return { code: codes['section-out-of-bounds'], field: 'offset', message: `the file ends at ${fileSize}` }
  if (offset < BigInt(headerSize))
    return { code: codes['section-overlaps-header'], field: 'offset', message: `the header ends at ${headerSize}` }
  if (offset < BigInt(directory.offset + directory.size) && end > BigInt(directory.offset))
    return { code: codes['section-overlaps-directory'], field: 'offset', message: `it covers the directory` }
  if (offset % 8n !== 0n)
    return { code: codes['section-alignment-8'], field: 'offset', message: 'the offset is not a multiple of 8' }
  return undefined
}

function checkDuplicates(sections: readonly Section[], directory: Container['directory'], context: ReadContext): void {
  const seen = new Set<number>()
  for (const { type, index } of sections) {
    if (seen.has(type)) {
      const offset = directory.offset + index * sectionRecord.size
      const message = `this is not the first section of type ${sectionName(type)}; readers ignore it`
      const path = `sections[${index}].type`
      context.report.report(codes['section-duplicate'], { offset, length: 4, path, message })
    }
    seen.add(type)
  }
}

/** Reports bytes that two sections claim, and returns those that none does. Up to seven of these are padding. */
function checkOverlaps(
  sections: readonly Section[],
  directory: Container['directory'],
  headerSize: number,
  fileSize: number,
  context: ReadContext,
): Range[] {
  const { report, extents } = context
  const filled = sections.filter(({ size }) => size > 0)
  const named = filled.map((each) => ({ ...rangeOf(each), index: each.index, name: sectionName(each.type) }))
  const used = inOrder([...named, { ...rangeOf(directory), index: -1, name: 'the directory' }], 'given')
  for (const [before, { start, end, index, name }] of overlaps(used)) {
    const length = Math.min(before.end, end) - start
    const message = `${name} shares ${length} bytes with ${before.name}`
    reportToVerifier(context, codes['section-overlap'], { offset: start, length, path: `sections[${index}]`, message })
  }
  const free = [...gaps(used, headerSize, fileSize)]
  for (const { start, end } of free) {
    const gap = { offset: start, length: end - start }
    if (gap.length < 8) extents?.add({ file: report.file, ...gap, path: 'padding', kind: 'padding' })
    else {
      const before = used.find((each) => each.end === start)?.name ?? 'the header'
      const message = `${gap.length} bytes after ${before} belong to no section`
      report.report(codes['unclaimed-bytes'], { ...gap, path: 'sections', message })
    }
  }
  return free
}

export function encodeDirectory(
  sections: readonly Pick<Section, 'type' | 'version' | 'offset' | 'size'>[],
): Uint8Array {
  const bytes = new Uint8Array(sections.length * sectionRecord.size)
  const view = new DataView(bytes.buffer)
  for (const [i, { type, version, offset, size }] of sections.entries()) {
    const record = { type, version, offset: BigInt(offset), size: BigInt(size) }
    sectionRecord.writeInto(view, i * sectionRecord.size, record)
  }
  return bytes
}
