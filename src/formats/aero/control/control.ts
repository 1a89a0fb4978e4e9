// Reads the control region: header, table of contents and string table. Each number from the file is compared, as a 64-bit integer,
// with what the file can hold before it becomes a size or an offset.
import { type ByteSource, Cursor, decodeUtf8 } from '../../../bytes/index.js'
import { type Code, neededSize } from '../../../errors/index.js'
import type { ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'
import {
  chunkAlignment,
  fourccText,
  type Header,
  header,
  magic,
  maxEntries,
  maxStringTable,
  type TocEntry,
  tocEntry,
  tocHeader,
  tocSize,
} from '../structs.js'
import { type Chunk, describeChunk, entryPath, isBlank, isCompressed } from './chunk.js'

export interface Control extends TocPlace, StringsPlace {
  readonly uuid: Uint8Array
  readonly entryCount: number
  /** The chunks that lie inside the file, in the order of the table. */
  readonly chunks: readonly Chunk[]
}

interface TocPlace {
  readonly tocOffset: number
  readonly tocLength: number
}

interface StringsPlace {
  readonly stringsOffset: number
  readonly stringsLength: number
}

export async function readControl(source: ByteSource, context: ReadContext): Promise<Control> {
  const { report, extents, signal } = context
  if (source.size < header.size) {
    const message = `a header of ${header.size} bytes was expected, the file has ${source.size}`
    report.fail(codes['header-truncated'], { offset: 0, path: 'header', needs: header.size, message })
  }
  // Writers put the table of contents right behind the header, so its count comes with the same read.
  const head = await source.read(0, Math.min(source.size, header.size + tocHeader.size), { signal })
  const values = header.read(new Cursor(head.subarray(0, header.size), report, { extents, path: ['header'] }))
  checkHeader(values, context)
  const { tocOffset, tocLength } = tocPlaceOf(values, source, context)
  const entryCount = await readEntryCount(source, { tocOffset, tocLength }, head, context)
  const { stringsOffset, stringsLength } = stringsPlaceOf(values, source, context)
  const place = { tocOffset, tocLength, stringsOffset, stringsLength }
  const { toc, strings } = await readTables(source, place, entryCount, context)

  const cursor = new Cursor(toc, report, { base: tocOffset, extents, path: ['toc'] })
  const { reserved0, reserved1 } = tocHeader.read(cursor)
  if (reserved0 !== 0 || reserved1 !== 0n) complainReserved(tocOffset + 4, 'toc.reserved', context)
  extents?.add({
    file: report.file,
    offset: stringsOffset,
    length: stringsLength,
    path: 'string_table',
    kind: 'field',
  })
  const chunks: Chunk[] = []
  for (let index = 0; index < entryCount; index++) {
    const offset = cursor.offset
    cursor.enter('entries', index)
    const entry = tocEntry.read(cursor)
    cursor.leave(2)
    const chunk = readEntry(entry, index, offset, strings, source.size, context)
    if (chunk) chunks.push(chunk)
  }
  return { uuid: values.uuid.slice(), ...place, entryCount, chunks }
}

function checkHeader(values: Header, { report }: ReadContext): void {
  const at = (field: keyof Header & string) => ({ offset: header.offsetOf(field), path: `header.${snake(field)}` })
  if (!magic.every((byte, i) => values.magic[i] === byte)) {
    report.fail(codes['header-magic'], { ...at('magic'), message: '"AERO" was expected here' })
  }
  if (values.versionMajor !== 0 || values.versionMinor !== 1) {
    const message = `version ${values.versionMajor}.${values.versionMinor}, only 0.1 is known`
    report.fail(codes['header-version'], { ...at('versionMajor'), message })
  }
  if (values.headerSize !== header.size) {
    report.report(codes['header-size'], { ...at('headerSize'), message: `${values.headerSize}, but it is always 96` })
  }
  if (values.fileFlags !== 0n) {
    const message = `0x${values.fileFlags.toString(16)}, must be 0`
    report.report(codes['header-flags'], { ...at('fileFlags'), message })
  }
  if (!isBlank(values.reserved)) {
    const message = 'reserved bytes of the header are not zero'
    report.report(codes['reserved-nonzero'], { ...at('reserved'), message })
  }
}

function failPlace(
  code: Code,
  field: keyof Header & string,
  message: string,
  { report }: ReadContext,
  needs: { readonly needs?: number } = {},
): never {
  const place = { offset: header.offsetOf(field), length: 8, path: `header.${snake(field)}` }
  return report.fail(code, { ...place, message, ...needs })
}

const beyond = (offset: bigint, length: bigint, size: number): string =>
  `bytes ${offset} to ${offset + length}, but the file has ${size}`

function tocPlaceOf({ tocOffset, tocLength }: Header, { size }: ByteSource, context: ReadContext): TocPlace {
  if (tocOffset + tocLength > BigInt(size)) {
    const message = beyond(tocOffset, tocLength, size)
    failPlace(codes['toc-bounds'], 'tocOffset', message, context, neededSize(tocOffset + tocLength))
  }
  if (tocLength < BigInt(tocHeader.size)) {
    const message = `${tocLength} bytes, its header alone takes ${tocHeader.size}`
    failPlace(codes['toc-length'], 'tocLength', message, context)
  }
  return { tocOffset: Number(tocOffset), tocLength: Number(tocLength) }
}

async function readEntryCount(
  source: ByteSource,
  { tocOffset, tocLength }: TocPlace,
  head: Uint8Array,
  { report, signal }: ReadContext,
): Promise<number> {
  const known = head.subarray(tocOffset, tocOffset + 4)
  const bytes = known.byteLength === 4 ? known : await source.read(tocOffset, 4, { signal })
  const entryCount = new DataView(bytes.slice().buffer).getUint32(0, true)
  const at = { offset: tocOffset, length: 4, path: 'toc.entry_count' }
  if (entryCount > maxEntries) {
    report.fail(codes['toc-count-cap'], { ...at, message: `${entryCount} entries, the maximum is ${maxEntries}` })
  }
  const needed = tocSize(entryCount)
  if (needed > tocLength) {
    const message = `${entryCount} entries take ${needed} bytes, the table has ${tocLength}`
    report.fail(codes['toc-count-vs-length'], { ...at, message })
  }
  return entryCount
}

function stringsPlaceOf(values: Header, { size }: ByteSource, context: ReadContext): StringsPlace {
  const { stringTableOffset, stringTableLength } = values
  if (stringTableOffset + stringTableLength > BigInt(size)) {
    const message = beyond(stringTableOffset, stringTableLength, size)
    failPlace(codes['strtab-bounds'], 'stringTableOffset', message, context)
  }
  if (stringTableLength > BigInt(maxStringTable)) {
    const message = `${stringTableLength} bytes, the maximum is ${maxStringTable}`
    failPlace(codes['strtab-cap'], 'stringTableLength', message, context)
  }
  return { stringsOffset: Number(stringTableOffset), stringsLength: Number(stringTableLength) }
}

/** Table and names are fetched in one read when they lie within this many bytes, which is nearly always. */
const maxTogether = 1 << 20

async function readTables(
  source: ByteSource,
  { tocOffset, stringsOffset, stringsLength }: TocPlace & StringsPlace,
  entryCount: number,
  { signal }: ReadContext,
): Promise<{ toc: Uint8Array; strings: Uint8Array }> {
  const tocLength = tocSize(entryCount)
  const start = Math.min(tocOffset, stringsOffset)
  const end = Math.max(tocOffset + tocLength, stringsOffset + stringsLength)
  const together = end - start <= maxTogether ? await source.read(start, end - start, { signal }) : undefined
  const read = async (offset: number, length: number): Promise<Uint8Array> =>
    together ? together.subarray(offset - start, offset - start + length) : source.read(offset, length, { signal })
  return { toc: await read(tocOffset, tocLength), strings: await read(stringsOffset, stringsLength) }
}

/** The name of a field in the words of the document. */
const snake = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function readEntry(
  entry: TocEntry,
  index: number,
  offset: number,
  strings: Uint8Array,
  size: number,
  context: ReadContext,
): Chunk | undefined {
  const { report } = context
  const path = entryPath(index)
  const at = (field: keyof TocEntry & string) => ({
    offset: offset + tocEntry.offsetOf(field),
    path: `${path}.${snake(field)}`,
  })
  if (index > 0 && isBlank(entry.fourcc) && entry.chunkOffset === 0n && isBlank(entry.blake3)) {
    const message = `entry ${index} is blank; the writer overwrote the table with zeros (defect D4)`
    report.fail(codes['defect-blank-toc'], { offset, length: tocEntry.size, path, message })
  }
  const nameEnd = entry.nameOff + entry.nameLen
  const name = nameEnd > strings.byteLength ? undefined : decodeUtf8(strings.subarray(entry.nameOff, nameEnd))
  const chunk: Chunk = {
    index,
    fourcc: fourccText(entry.fourcc),
    name: name ?? '',
    flags: entry.chunkFlags,
    offset: Number(entry.chunkOffset),
    length: Number(entry.chunkLength),
    // An uncompressed chunk has its stored length, whatever else the entry says.
    ulen: Number(isCompressed({ flags: entry.chunkFlags }) ? entry.chunkUlen : entry.chunkLength),
    hash: entry.blake3.slice(),
  }
  const inside = placeInside(chunk, entry, size, at, context)
  if (nameEnd > strings.byteLength) {
    const message = `bytes ${entry.nameOff} to ${nameEnd} of a string table of ${strings.byteLength}`
    report.report(codes['chunk-name-bounds'], { ...at('nameOff'), message })
  } else if (name === undefined) {
    report.report(codes['chunk-name-utf8'], { ...at('nameOff'), message: 'the name is not valid UTF-8' })
  }
  if (inside === chunk) {
    if (entry.reserved0 !== 0n) complainReserved(at('reserved0').offset, at('reserved0').path, context)
    checkForm(chunk, entry, at, context)
  }
  return name === undefined ? undefined : inside
}

type PlaceOf = (field: keyof TocEntry & string) => { offset: number; path: string }

/** The chunk, or as much of it as the file has; undefined where that is of no use. */
function placeInside(
  chunk: Chunk,
  { chunkOffset, chunkLength }: TocEntry,
  size: number,
  at: PlaceOf,
  { report, onLost }: ReadContext,
): Chunk | undefined {
  if (chunkOffset + chunkLength <= BigInt(size)) return chunk
  if (chunkLength === 0n && chunk.fourcc === 'WTSH') {
    const message = `the empty ${describeChunk(chunk)} lies at ${chunkOffset}, the file ends at ${size} (defect D6)`
    report.report(codes['defect-empty-last-shard'], { ...at('chunkOffset'), message })
    return { ...chunk, offset: size }
  }
  const message = `${describeChunk(chunk)} would take bytes ${chunkOffset} to ${chunkOffset + chunkLength}, the file has ${size}`
  report.report(codes['chunk-bounds'], { ...at('chunkOffset'), message, ...neededSize(chunkOffset + chunkLength) })
  if (!onLost || chunk.fourcc !== 'WTSH' || isCompressed(chunk)) return undefined
  // What is left of a shard that was cut may hold whole tensors.
  const offset = Math.min(chunk.offset, size)
  return { ...chunk, offset, length: size - offset }
}

function checkForm(chunk: Chunk, { chunkUlen }: TocEntry, at: PlaceOf, { report }: ReadContext): void {
  const compressed = isCompressed(chunk)
  if (compressed && chunk.fourcc === 'WTSH') {
    const message = `${describeChunk(chunk)} is marked as zstd, but tensors are read from it directly`
    report.report(codes['wtsh-compressed'], { ...at('chunkFlags'), message })
  }
  if (!compressed && chunkUlen !== BigInt(chunk.length)) {
    const message = `${describeChunk(chunk)} is uncompressed with ${chunk.length} bytes, chunk_ulen is ${chunkUlen}`
    report.report(codes['chunk-ulen-vs-length'], { ...at('chunkUlen'), message })
  }
  if (chunk.offset % chunkAlignment !== 0) {
    const message = `${describeChunk(chunk)} starts at ${chunk.offset}, not at a multiple of ${chunkAlignment}`
    report.report(codes['chunk-misaligned'], { ...at('chunkOffset'), message })
  }
}

function complainReserved(offset: number, path: string, { report }: ReadContext): void {
  report.report(codes['reserved-nonzero'], { offset, path, message: 'a reserved field is not zero' })
}

/** The weight shards by name; the first of a name counts. */
export function shardsOf(control: Control): Map<string, Chunk> {
  const shards = new Map<string, Chunk>()
  for (const chunk of control.chunks) {
    if (chunk.fourcc === 'WTSH' && !shards.has(chunk.name)) shards.set(chunk.name, chunk)
  }
  return shards
}
