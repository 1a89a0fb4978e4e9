// Reads a sectioned file: header and footer, then the three sections that make up the index. The data section is only placed.
import {
  type ByteSource,
  Cursor,
  compareBytes,
  type ExtentRecorder,
  inOrder,
  type Range,
  toSafe,
} from '../../../bytes/index.js'
import { neededSize } from '../../../errors/index.js'
import type { MetaValue, Model, Part, ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'
import { crc32, hex } from '../crc.js'
import { reportOrientation } from '../orientation.js'
import { layoutPart } from '../parts.js'
import {
  bytesPerEntry,
  checkedHeader,
  descriptor,
  flag,
  footer,
  type Header,
  header,
  magicEnd,
  metadataHeader,
  vocabHeader,
} from '../structs.js'
import { checkRequiredKeys, checkVocabSize, readMetadata, repeatedPart } from './metadata.js'
import { placeTensors } from './place-tensors.js'
import { SectionMap } from './sections.js'
import { type DataPlace, type IndexEntry, readTensorIndex, totalNameLength } from './tensor-index.js'
import { readVocab, type VocabSection } from './vocabulary.js'

/** A sectioned file, and what checking it needs to know. */
export interface SectionedFile {
  readonly model: Model
  readonly hasChecksums: boolean
  /** Absent when there is none. */
  readonly footer: { readonly offset: number; readonly dataChecksum: number; readonly fileChecksum: number } | undefined
  /** Absent when it does not lie inside the file. */
  readonly data: Range | undefined
  /** Bytes that must be zero, ascending. */
  readonly padding: readonly Range[]
}

export async function readSectioned(source: ByteSource, context: ReadContext): Promise<SectionedFile> {
  const { report, extents, signal } = context
  const start = await source.read(0, header.size, { signal })
  const fields = header.read(new Cursor(start, report, { extents, path: ['header'] }))
  await checkHeader(fields, start, source, context)
  const end = await readFooter(fields, source, context)
  const sections = new SectionMap(header.size, end?.offset ?? source.size, report)

  const { metadata, parts } = await readMetadataSection(fields, sections, source, context)
  const vocabulary = await readVocabSection(fields, sections, source, context)
  if (vocabulary) {
    if (vocabulary.isWhole) checkVocabSize(metadata, vocabulary.count, context)
    parts.push(vocabulary.part)
  }
  const place = placeOfData(fields, sections, source)
  const index = await readIndexSection(fields, sections, place, context)
  const data = { ...place, isWhole: claimData(fields, sections), isAligned: hasFlag(fields, flag.aligned) }
  const announced = { count: fields.tensorIndexCount, offset: fields.tensorIndexOffset }
  const { tensors, padding } = placeTensors(index, announced, data, context)
  const between = sections.findGaps()
  if (between && extents) {
    recordPadding(between, 'padding', source.name, extents)
    recordPadding(padding, 'data.padding', source.name, extents)
  }
  const hasChecksums = hasFlag(fields, flag.checksums)
  const manner = layoutPart({ layout: 'sectioned', aligned: data.isAligned, checksums: hasChecksums })
  const model: Model = {
    format: 'embd',
    version: `${fields.versionMajor}.${fields.versionMinor}`,
    variant: 'sectioned',
    metadata,
    tensors,
    parts: [manner, ...parts, ...reportOrientation(tensors, 'sectioned', context)],
    files: [source],
  }
  return {
    model,
    hasChecksums,
    footer: end,
    data: data.isWhole ? { start: data.offset, end: data.offset + data.size } : undefined,
    padding: between ? inOrder([...between, ...padding]) : [],
  }
}

/** Flags are 32 bits, so the bit operators are right for them. */
const hasFlag = ({ flags }: Header, bit: number): boolean => (flags & bit) !== 0

async function checkHeader(
  fields: Header,
  bytes: Uint8Array,
  source: ByteSource,
  { report }: ReadContext,
): Promise<void> {
  const place = (field: keyof Header, name: string) => ({ offset: header.offsetOf(field), path: `header.${name}` })
  const { versionMajor, versionMinor, flags, reserved, totalFileSize } = fields
  if (versionMajor !== 1) {
    const message = `version ${versionMajor}.${versionMinor}, but only major version 1 is known`
    report.fail(codes['version-major'], { ...place('versionMajor', 'version_major'), message })
  }
  if (versionMinor !== 0) {
    const message = `version 1.${versionMinor} is newer than 1.0`
    report.report(codes['version-minor'], { ...place('versionMinor', 'version_minor'), message })
  }
  if (hasFlag(fields, flag.checksums)) {
    const crc = await crc32(bytes.subarray(0, checkedHeader))
    if (crc !== fields.headerChecksum) {
      const message = `${hex(fields.headerChecksum)} is stored, bytes 0 to ${checkedHeader - 1} have ${hex(crc)}`
      report.report(codes['header-crc'], { ...place('headerChecksum', 'header_checksum'), length: 4, message })
    }
  }
  if (hasFlag(fields, flag.reserved)) {
    report.report(codes['reserved-flags'], { ...place('flags', 'flags'), message: `the flags are ${hex(flags)}` })
  }
  if (reserved !== 0) {
    report.report(codes['reserved-header'], { ...place('reserved', 'reserved'), message: `${reserved}, not 0` })
  }
  if (totalFileSize !== BigInt(source.size)) {
    const message = `the header states ${totalFileSize} bytes, the file has ${source.size}`
    const at = place('totalFileSize', 'total_file_size')
    report.report(codes['total-file-size'], { ...at, length: 8, message, ...neededSize(totalFileSize) })
  }
  if (hasFlag(fields, flag.compressed)) {
    const message = 'the data are said to be compressed, in a way that was never defined'
    report.fail(codes.compressed, { ...place('flags', 'flags'), message })
  }
}

/** The footer ends the file that the header states; when that is longer than what is there, it may still end the file as it is. */
async function readFooter(fields: Header, source: ByteSource, context: ReadContext): Promise<SectionedFile['footer']> {
  const { report, extents, signal } = context
  const stated = toSafe(fields.totalFileSize)
  const isCut = stated === undefined || stated > source.size
  const offset = (isCut ? source.size : stated) - footer.size
  if (offset < header.size) {
    // A file that was cut has lost its footer, and has been reported.
    if (!isCut)
      report.report(codes['footer-magic'], { offset: Math.max(0, offset), path: 'footer', message: 'no room for it' })
    return undefined
  }
  const bytes = await source.read(offset, footer.size, { signal })
  const magicAt = footer.offsetOf('magicEnd')
  const isFooter = compareBytes(bytes.subarray(magicAt, magicAt + magicEnd.byteLength), magicEnd) === 0
  if (!isFooter && isCut) return undefined
  const { dataChecksum, fileChecksum, reserved } = footer.read(
    new Cursor(bytes, report, { base: offset, extents, path: ['footer'] }),
  )
  if (!isFooter) {
    const message = `"DBME" was expected`
    report.report(codes['footer-magic'], { offset: offset + magicAt, length: 4, path: 'footer.magic_end', message })
  }
  if (reserved !== 0) {
    const at = offset + footer.offsetOf('reserved')
    report.report(codes['reserved-footer'], { offset: at, path: 'footer.reserved', message: `${reserved}, not 0` })
  }
  return { offset, dataChecksum, fileChecksum }
}

/** The bytes of a section, if there are not too many. */
async function fetch(
  source: ByteSource,
  { tensorDataOffset: dataOffset }: Header,
  offset: number,
  length: number,
  path: string,
  context: ReadContext,
): Promise<Uint8Array> {
  const { report, limits, signal } = context
  if (length > limits.indexBytes) {
    const message = `${length} bytes are over the limit of ${limits.indexBytes}`
    report.fail(codes['index-limit'], { offset, path, message })
  }
  // What comes between here and the data will be wanted next.
  return source.read(offset, length, { signal, ahead: Math.max(0, dataOffset - offset - length) })
}

async function readMetadataSection(
  fields: Header,
  sections: SectionMap,
  source: ByteSource,
  context: ReadContext,
): Promise<{ metadata: Map<string, MetaValue>; parts: Part[] }> {
  const { metadataOffset, metadataSize } = fields
  const at = header.offsetOf('metadataOffset')
  if (!sections.claim('metadata', 'metadata-range', metadataOffset, metadataSize, metadataHeader.size, at)) {
    return { metadata: new Map(), parts: [] }
  }
  const bytes = await fetch(source, fields, metadataOffset, metadataSize, 'metadata', context)
  const { metadata, repeated } = readMetadata(bytes, metadataOffset, context)
  checkRequiredKeys(metadata, metadataOffset, context)
  return { metadata, parts: repeatedPart(repeated) }
}

async function readVocabSection(
  fields: Header,
  sections: SectionMap,
  source: ByteSource,
  context: ReadContext,
): Promise<VocabSection | undefined> {
  const { vocabOffset, vocabSize } = fields
  const at = header.offsetOf('vocabOffset')
  if (!hasFlag(fields, flag.vocabulary)) {
    if (vocabOffset !== 0 || vocabSize !== 0) {
      const message = `${vocabSize} bytes at ${vocabOffset}, although the flag for a vocabulary is not set`
      context.report.report(codes['vocab-flag'], { offset: at, path: 'header.vocab_offset', message })
      sections.leaveOpen()
    }
    return undefined
  }
  if (!sections.claim('vocab', 'vocab-range', vocabOffset, vocabSize, vocabHeader.size, at)) return undefined
  return readVocab(await fetch(source, fields, vocabOffset, vocabSize, 'vocab', context), vocabOffset, context)
}

async function readIndexSection(
  fields: Header,
  sections: SectionMap,
  data: DataPlace,
  context: ReadContext,
): Promise<IndexEntry[]> {
  const { source } = data
  const { report, limits } = context
  const { tensorIndexOffset: offset, tensorIndexCount: count } = fields
  const at = header.offsetOf('tensorIndexOffset')
  if (count === 0)
    report.report(codes['no-tensors'], { offset: at, path: 'header.tensor_index_count', message: 'no tensors' })
  const length = count * descriptor.size
  const room = sections.end - offset
  if (length > room || offset < header.size) {
    sections.claim('tensor_index', 'index-range', offset, length, 0, at)
    return []
  }
  if (count * bytesPerEntry > limits.indexBytes) {
    report.fail(codes['index-limit'], {
      offset: at,
      path: 'header.tensor_index_count',
      message: `${count} tensors are over the limit`,
    })
  }
  const descriptors = await fetch(source, fields, offset, length, 'tensors', context)
  const announced = totalNameLength(descriptors)
  const available = Math.min(announced, room - length)
  const namesOffset = offset + length
  if (announced > available) {
    const message = `the names take ${announced} bytes, but only ${available} are left behind the index`
    report.report(codes['name-table'], { offset: namesOffset, path: 'names', message })
    sections.leaveOpen()
  }
  sections.claim('tensor_index', 'index-range', offset, length + (announced > available ? 0 : announced), 0, at)
  const names = await fetch(source, fields, namesOffset, available, 'names', context)
  return readTensorIndex(descriptors, names, offset, data, context)
}

/** What the file has of the data section, wherever that should lie. */
function placeOfData(
  { tensorDataOffset: offset, tensorDataSize }: Header,
  sections: SectionMap,
  source: ByteSource,
): DataPlace {
  const left = BigInt(Math.max(0, sections.end - offset))
  return { source, offset, size: Number(tensorDataSize < left ? tensorDataSize : left) }
}

/** Whether all of it is there. */
function claimData({ tensorDataOffset, tensorDataSize }: Header, sections: SectionMap): boolean {
  const at = header.offsetOf('tensorDataOffset')
  return sections.claim('tensor_data', 'data-section-range', tensorDataOffset, tensorDataSize, 0, at)
}

function recordPadding(ranges: readonly Range[], path: string, file: string, extents: ExtentRecorder): void {
  for (const { start, end } of ranges) extents.add({ file, offset: start, length: end - start, path, kind: 'padding' })
}
