// Completing a file that was cut. Only the directory and the index of the tensors say what lies where, and they are the last things in it.
// What is left of the directory is used, and an index that it no longer lists is looked for. With both, a header and a directory are made
// that go with what is left, and the file is read like any other.
import { alignUp, type ByteSource, Cursor, type Range, type StructValues, toSafe } from '../../bytes/index.js'
import { neededSize, strictReport } from '../../errors/index.js'
import type { ReadContext } from '../../model/index.js'
import { type PatchPiece, patchedSource } from '../../writing/patched-source.js'
import { codes } from './codes.js'
import { encodeDirectory } from './container.js'
import { type FoundIndex, findIndex } from './salvage-index.js'
import { type Section, sectionName, sectionTypes } from './sections.js'
import { header, indexHeader, magic, sectionRecord } from './structs.js'

type Header = StructValues<typeof header>
type Place = Omit<Section, 'index'>

const maxSections = 40_000

/** The source itself where it is not cut, or where its header is not one that can be believed. */
export async function completeCutFile(source: ByteSource, context: ReadContext): Promise<ByteSource> {
  const head = await readHeader(source, context.signal)
  const records = head && (await readRecords(source, head, context.signal))
  const isWhole = records?.length === head?.sectionCount && records?.every((record) => endOf(record) <= source.size)
  if (!head || !records || (isWhole && head.fileSize === BigInt(source.size))) return source
  return complete(source, head, records, context)
}

/** Undefined when it is not one that can be believed. */
async function readHeader(source: ByteSource, signal: AbortSignal | undefined): Promise<Header | undefined> {
  if (source.size < header.size) return undefined
  const bytes = await source.read(0, header.size, { signal })
  const head = header.read(new Cursor(bytes.slice(), strictReport(source.name)))
  const isSound =
    magic.every((byte, i) => head.magic[i] === byte) &&
    head.major === 1 &&
    head.headerSize >= header.size &&
    head.headerSize <= source.size &&
    head.sectionCount > 0 &&
    head.sectionCount <= maxSections
  return isSound ? head : undefined
}

/** The records of the directory that are whole. */
async function readRecords(
  source: ByteSource,
  { sectionDirOffset, sectionCount, headerSize }: Header,
  signal: AbortSignal | undefined,
): Promise<Place[]> {
  const start = toSafe(sectionDirOffset) ?? Number.POSITIVE_INFINITY
  if (start < headerSize || start >= source.size) return []
  const count = Math.min(sectionCount, Math.floor((source.size - start) / sectionRecord.size))
  const cursor = new Cursor(await source.read(start, count * sectionRecord.size, { signal }), strictReport(source.name))
  return Array.from({ length: count }, () => {
    const { type, version, offset, size } = sectionRecord.read(cursor)
    return { type, version, offset: toSafe(offset) ?? Number.MAX_SAFE_INTEGER, size: toSafe(size) ?? 0 }
  })
}

const endOf = ({ offset, size }: Place): number => offset + size

async function complete(
  source: ByteSource,
  head: Header,
  records: readonly Place[],
  context: ReadContext,
): Promise<ByteSource> {
  const cut = `the header says ${head.fileSize} bytes, the file has ${source.size}`
  context.report.report(codes['file-size'], {
    offset: header.offsetOf('fileSize'),
    path: 'header.file_size',
    message: cut,
    ...neededSize(head.fileSize),
  })
  const sections = records.filter((record) => endOf(record) <= source.size)
  const cutData = records.find(({ type, offset }) => type === sectionTypes.tensorData && offset < source.size)
  // Tensors before the cut are whole, if there is an index that says so.
  if (cutData && !sections.includes(cutData)) sections.push({ ...cutData, size: source.size - cutData.offset })
  const { tensorIndex, tensorData } = sectionTypes
  const has = (type: number): boolean => sections.some((section) => section.type === type)
  const isComplete = records.length === head.sectionCount
  const isWanted = (type: number): boolean => !has(type) && (!isComplete || records.some((each) => each.type === type))
  const statedSize = toSafe(head.fileSize) ?? Number.MAX_SAFE_INTEGER
  const isLooking = isWanted(tensorIndex) || isWanted(tensorData)
  const found = isLooking ? await findIndex(source, statedSize, context.signal) : undefined
  if (isWanted(tensorIndex)) {
    if (!found) {
      const message = `the file was cut at ${source.size}, and the index of the tensors lay behind: their names, types and shapes are gone`
      context.report.fail(codes['directory-out-of-bounds'], { offset: source.size, path: 'tensor_index', message })
    }
    sections.push({ type: tensorIndex, version: 1, offset: found.offset, size: found.size })
  }
  // Where the tensors lie, the index says; in which section is only a matter of form.
  const data: Range = found?.data ?? { start: head.headerSize, end: source.size }
  const start = alignUp(head.headerSize, 8) > data.start ? alignUp(head.headerSize, 8) : data.start - (data.start % 8)
  const size = Math.min(data.end, source.size) - start
  if (has(tensorIndex) && isWanted(tensorData) && size > 0)
    sections.push({ type: tensorData, version: 1, offset: start, size })
  sayLost(head, records, sections, found, context)
  return asIfWhole(source, head, sections, found)
}

function sayLost(
  { sectionCount }: Header,
  records: readonly Place[],
  sections: readonly Place[],
  found: FoundIndex | undefined,
  { onLost }: ReadContext,
): void {
  for (const { type, size } of records) {
    if (sections.some((section) => section.type === type)) continue
    onLost?.({ subject: 'part', name: sectionName(type), length: size, reason: 'it is not all in the file' })
  }
  for (const length of found?.nameless ?? []) onLost?.({ subject: 'tensor', length, reason: 'its name is cut off' })
  const unknown = sectionCount - Math.max(records.length, sections.length)
  const which = unknown === 1 ? 'a section' : `${unknown} sections`
  if (unknown > 0)
    onLost?.({ subject: 'part', reason: `${which} besides the tensors: where they are, nothing says any more` })
}

/** The file with a header and a directory that go with what is left of it. */
function asIfWhole(
  source: ByteSource,
  head: Header,
  sections: readonly Place[],
  found: FoundIndex | undefined,
): ByteSource {
  const directoryOffset = alignUp(source.size, 8)
  const directory = encodeDirectory(sections)
  const fileSize = BigInt(directoryOffset + directory.byteLength)
  const places = { sectionCount: sections.length, sectionDirOffset: BigInt(directoryOffset), fileSize }
  const pieces: PatchPiece[] = [header.write({ ...head, ...places })]
  let at = header.size
  if (found) {
    const field = found.offset + indexHeader.offsetOf('stringsSize')
    const size = new Uint8Array(8)
    new DataView(size.buffer).setBigUint64(0, BigInt(found.stringsSize), true)
    pieces.push({ offset: at, length: field - at }, size)
    at = field + size.byteLength
  }
  pieces.push({ offset: at, length: source.size - at }, new Uint8Array(directoryOffset - source.size), directory)
  return patchedSource(source, pieces)
}
