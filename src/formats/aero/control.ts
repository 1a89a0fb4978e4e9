// Reads the control region: header, table of contents and string table. Each number from the file is compared, as a 64-bit integer,
// with what the file can hold before it becomes a size or an offset.
import { type ByteSource, Cursor, decodeUtf8 } from '../../bytes/index.js'
import type { Code } from '../../errors/index.js'
import type { ReadContext } from '../../model/index.js'
import { type Chunk, describeChunk, entryPath, isBlank, isCompressed } from './chunk.js'
import { codes } from './codes.js'
import {
  chunkAlignment,
  flags,
  fourccText,
  type Header,
  hasFlag,
  header,
  magic,
  maxEntries,
  maxStringTable,
  type TocEntry,
  tocEntry,
  tocHeader,
} from './structs.js'

export interface Control {
  readonly uuid: Uint8Array
  readonly tocOffset: number
  readonly tocLength: number
  readonly entryCount: number
  readonly stringsOffset: number
  readonly stringsLength: number
  /** The chunks whose place in the file is right, in the order of the table. */
  readonly chunks: readonly Chunk[]
}

export async function readControl(source: ByteSource, context: ReadContext): Promise<Control> {
  const { report, signal } = context
  if (source.size < header.size) {
    const message = `a header of ${header.size} bytes was expected, the file has ${source.size}`
    report.fail(codes['header-truncated'], { offset: 0, path: 'header', message })
  }
  const start = await source.read(0, header.size, { signal })
  const values = header.read(new Cursor(start, report, { extents: context.extents, path: ['header'] }))
  checkHeader(values, context)
  const place = checkPlace(values, source, context)
  const { toc, strings, entryCount } = await fetchTables(source, place, context)
  const cursor = new Cursor(toc, report, { base: place.tocOffset, extents: context.extents, path: ['toc'] })
  const { reserved0, reserved1 } = tocHeader.read(cursor)
  if (reserved0 !== 0 || reserved1 !== 0n) complainReserved(place.tocOffset + 4, 'toc.reserved', context)
  context.extents?.add({
    file: report.file,
    offset: place.stringsOffset,
    length: place.stringsLength,
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
    report.report(codes['header-flags'], {
      ...at('fileFlags'),
      message: `0x${values.fileFlags.toString(16)}, must be 0`,
    })
  }
  if (!isBlank(values.reserved)) {
    report.report(codes['reserved-nonzero'], {
      ...at('reserved'),
      message: 'reserved bytes of the header are not zero',
    })
  }
}

interface Place {
  readonly tocOffset: number
  readonly tocLength: number
  readonly stringsOffset: number
  readonly stringsLength: number
}

function checkPlace(values: Header, source: ByteSource, { report }: ReadContext): Place {
  const size = BigInt(source.size)
  const { tocOffset, tocLength, stringTableOffset, stringTableLength } = values
  const fail = (code: Code, field: keyof Header & string, message: string): never =>
    report.fail(code, { offset: header.offsetOf(field), length: 8, path: `header.${snake(field)}`, message })
  const beyond = (offset: bigint, length: bigint): string =>
    `bytes ${offset} to ${offset + length}, but the file has ${size}`
  if (tocOffset + tocLength > size) fail(codes['toc-bounds'], 'tocOffset', beyond(tocOffset, tocLength))
  if (tocLength < BigInt(tocHeader.size)) {
    fail(codes['toc-length'], 'tocLength', `${tocLength} bytes, its header alone takes ${tocHeader.size}`)
  }
  if (stringTableOffset + stringTableLength > size) {
    fail(codes['strtab-bounds'], 'stringTableOffset', beyond(stringTableOffset, stringTableLength))
  }
  if (stringTableLength > BigInt(maxStringTable)) {
    fail(codes['strtab-cap'], 'stringTableLength', `${stringTableLength} bytes, ${maxStringTable} are the most`)
  }
  return {
    tocOffset: Number(tocOffset),
    tocLength: Number(tocLength),
    stringsOffset: Number(stringTableOffset),
    stringsLength: Number(stringTableLength),
  }
}

/** Table and names usually lie side by side; then one read brings both. */
const fetchTogether = 1 << 20

async function fetchTables(source: ByteSource, place: Place, context: ReadContext) {
  const { tocOffset, tocLength, stringsOffset, stringsLength } = place
  const { signal, report } = context
  const start = Math.min(tocOffset, stringsOffset)
  const end = Math.max(tocOffset + tocLength, stringsOffset + stringsLength)
  const together = end - start <= fetchTogether ? await source.read(start, end - start, { signal }) : undefined
  const read = async (offset: number, length: number): Promise<Uint8Array> =>
    together ? together.subarray(offset - start, offset - start + length) : source.read(offset, length, { signal })
  const entryCount = new DataView((await read(tocOffset, 4)).slice().buffer).getUint32(0, true)
  const at = { offset: tocOffset, length: 4, path: 'toc.entry_count' }
  if (entryCount > maxEntries) {
    report.fail(codes['toc-count-cap'], { ...at, message: `${entryCount} entries, ${maxEntries} are the most` })
  }
  const needed = tocHeader.size + entryCount * tocEntry.size
  if (needed > tocLength) {
    const message = `${entryCount} entries take ${needed} bytes, the table has ${tocLength}`
    report.fail(codes['toc-count-vs-length'], { ...at, message })
  }
  return { toc: await read(tocOffset, needed), strings: await read(stringsOffset, stringsLength), entryCount }
}

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
  let name: string | undefined
  if (nameEnd > strings.byteLength) {
    const message = `bytes ${entry.nameOff} to ${nameEnd} of a string table of ${strings.byteLength}`
    report.report(codes['chunk-name-bounds'], { ...at('nameOff'), message })
  } else {
    name = decodeUtf8(strings.subarray(entry.nameOff, nameEnd))
    if (name === undefined) {
      report.report(codes['chunk-name-utf8'], { ...at('nameOff'), message: 'the name is not valid UTF-8' })
    }
  }
  const chunk: Chunk = {
    index,
    fourcc: fourccText(entry.fourcc),
    name: name ?? '',
    flags: entry.chunkFlags,
    offset: Number(entry.chunkOffset),
    length: Number(entry.chunkLength),
    ulen: Number(entry.chunkUlen),
    hash: entry.blake3.slice(),
  }
  if (entry.chunkOffset + entry.chunkLength > BigInt(size)) {
    if (entry.chunkLength === 0n && chunk.fourcc === 'WTSH') {
      const message = `the empty ${describeChunk(chunk)} lies at ${entry.chunkOffset}, the file ends at ${size} (defect D6)`
      report.report(codes['defect-empty-last-shard'], { ...at('chunkOffset'), message })
      return { ...chunk, offset: size }
    }
    const message = `${describeChunk(chunk)} would take bytes ${entry.chunkOffset} to ${entry.chunkOffset + entry.chunkLength}, the file has ${size}`
    report.report(codes['chunk-bounds'], { ...at('chunkOffset'), message })
    if (!context.onLost || chunk.fourcc !== 'WTSH' || isCompressed(chunk)) return undefined
    // What is there of a shard may hold whole tensors.
    const offset = Math.min(chunk.offset, size)
    return { ...chunk, offset, length: size - offset }
  }
  if (entry.reserved0 !== 0n) complainReserved(at('reserved0').offset, at('reserved0').path, context)
  checkForm(chunk, at, context)
  return name === undefined ? undefined : chunk
}

function checkForm(
  chunk: Chunk,
  at: (field: keyof TocEntry & string) => { offset: number; path: string },
  { report }: ReadContext,
): void {
  const compressed = hasFlag(chunk.flags, flags.zstd)
  if (compressed && chunk.fourcc === 'WTSH') {
    const message = `${describeChunk(chunk)} is marked as zstd, but tensors are read from it directly`
    report.report(codes['wtsh-compressed'], { ...at('chunkFlags'), message })
  }
  if (!compressed && chunk.ulen !== chunk.length) {
    const message = `${describeChunk(chunk)} is stored plainly with ${chunk.length} bytes, chunk_ulen is ${chunk.ulen}`
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

const snake = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
