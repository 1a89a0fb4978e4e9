// A GGUF file is an index and the data of the tensors. The index is: the letters GGUF, a version, the number of tensors, the number of
// metadata entries; the entries (key, type, value); the tensors' entries (see tensors.ts). Integers are little-endian, or, in version 3,
// all big-endian: then the version's upper half has the digits. The letters are never swapped.
import { type ByteSource, Cursor, decodeLossy, decodeUtf8 } from '../../bytes/index.js'
import type { Metadata, MetaValue, ReadContext, Tensor } from '../../model/index.js'
import { codes } from './codes.js'
import { IndexBytes } from './index-bytes.js'
import { type Encoding, type Entry, Skimmer } from './skim.js'
import {
  alignmentKey,
  alignmentOf,
  counts,
  defaultAlignment,
  magic,
  maxAlignment,
  preamble,
  shortCounts,
} from './structs.js'
import { TensorReader, type TensorSection } from './tensors.js'
import { boolType, valueTypes } from './value-types.js'
import { type IndexView, readValue } from './values.js'

/** One file, which may be a part of a set. */
export interface GgufFile extends TensorSection {
  readonly source: ByteSource
  readonly encoding: Encoding
  readonly metadata: Metadata
  readonly tensors: readonly Tensor[]
}

export async function readFile(source: ByteSource, context: ReadContext): Promise<GgufFile> {
  const { report } = context
  const index = new IndexBytes(source, context)
  await index.reach(Math.min(source.size, preamble.size))
  const encoding = readEncoding(index, context)
  const header = encoding.lengthSize === 8 ? counts : shortCounts
  const start = preamble.size + header.size
  if (source.size < start) {
    const message = `a header of ${start} bytes was expected, the file has ${source.size}`
    report.fail(codes.truncated, { offset: source.size, path: 'tensor_count', message })
  }
  await index.reach(start)
  const { littleEndian } = encoding
  const cursor = new Cursor(index.bytes.subarray(0, start), report, { littleEndian, extents: context.extents })
  cursor.seek(preamble.size)
  const { tensorCount, metadataKvCount } = header.read(cursor)
  const skimmed = await new Skimmer(index, encoding, context).run(start, BigInt(metadataKvCount), BigInt(tensorCount))
  const view: IndexView = { bytes: index.bytes, view: index.view, encoding }
  const { metadata, alignment } = readMetadata(view, skimmed.entries, context)
  const reader = new TensorReader(index, encoding, alignment, skimmed, context)
  return { source, encoding, metadata, ...reader.read(skimmed.tensorsStart, Number(tensorCount)) }
}

function readEncoding(index: IndexBytes, { report, extents }: ReadContext): Encoding {
  const { bytes, view, source } = index
  if (source.size < preamble.size || !magic.every((byte, i) => bytes[i] === byte))
    refuseMagic(bytes, source.size, report)
  const isSwapped = view.getUint32(4, true) > 0 && view.getUint16(4, true) === 0
  const cursor = new Cursor(bytes.subarray(0, preamble.size), report, { littleEndian: !isSwapped, extents })
  const { version } = preamble.read(cursor)
  const isKnown = isSwapped ? version === 3 : version >= 1 && version <= 3
  if (!isKnown) {
    const message = `version ${version}${isSwapped ? ' in big-endian order' : ''} does not exist`
    report.fail(codes.version, { offset: 4, length: 4, path: 'version', message })
  }
  if (version === 1)
    report.report(codes['old-version'], { offset: 4, length: 4, path: 'version', message: 'version 1' })
  return { version, littleEndian: !isSwapped, lengthSize: version === 1 ? 4 : 8 }
}

/** The earlier formats, as their first four bytes read. */
const predecessors = new Set(['lmgg', 'fmgg', 'tjgg', 'algg'])

function refuseMagic(bytes: Uint8Array, size: number, report: ReadContext['report']): never {
  const start = decodeLossy(bytes.subarray(0, 4))
  const place = { offset: 0, length: Math.min(4, size), path: 'magic' }
  if ('GGUF'.startsWith(start)) {
    const message = `a header of 24 bytes was expected, the file has ${size}`
    return report.fail(codes.truncated, { ...place, message })
  }
  const code = predecessors.has(start) ? codes.predecessor : codes.magic
  return report.fail(code, { ...place, message: `the file begins with ${JSON.stringify(start)}, not with "GGUF"` })
}

function readMetadata(
  index: IndexView,
  entries: readonly Entry[],
  context: ReadContext,
): { metadata: Metadata; alignment: number } {
  const metadata = new Map<string, MetaValue>()
  const firsts = new Map<string, number>()
  let alignment = defaultAlignment
  for (const [i, entry] of entries.entries()) {
    const key = readKey(index, entry, i, context)
    const value = readEntryValue(index, entry, i, context)
    if (key === undefined) continue
    const first = firsts.get(key)
    if (first !== undefined) {
      const message = `metadata[${first}] has the key ${JSON.stringify(key)} too, at 0x${entries[first]!.start.toString(16)}`
      context.report.report(codes['duplicate-key'], { offset: entry.start, path: `metadata[${i}].key`, message })
      continue
    }
    firsts.set(key, i)
    const stated = key === alignmentKey ? readAlignment(value, entry, i, context) : undefined
    alignment = stated ?? alignment
    if (key !== alignmentKey || stated !== undefined) metadata.set(key, value)
  }
  return { metadata, alignment }
}

function readKey(index: IndexView, entry: Entry, i: number, { report, extents }: ReadContext): string | undefined {
  const { lengthSize } = index.encoding
  const start = entry.start + lengthSize
  const bytes = index.bytes.subarray(start, start + entry.keyLength)
  const key = decodeUtf8(bytes)
  const say = (code: keyof typeof codes, message: string): void =>
    report.report(codes[code], { offset: start, length: entry.keyLength, path: `metadata[${i}].key`, message })
  const note = (offset: number, length: number, field: string, value: string | number | undefined): void =>
    extents?.add({ file: report.file, offset, length, path: `metadata[${i}].${field}`, kind: 'field', value })
  note(entry.start, lengthSize, 'key_length', entry.keyLength)
  note(start, entry.keyLength, 'key', decodeLossy(bytes))
  note(start + entry.keyLength, 4, 'value_type', entry.type)
  if (entry.keyLength > 65_535) say('key-length', `the key has ${entry.keyLength} bytes`)
  if (key === undefined) say('key-utf8', 'the key is not UTF-8')
  else if (/^[a-z0-9_]+(?:\.[a-z0-9_]+)*$/.test(key)) return key
  else if (/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(key)) say('key-hyphen', `the key ${JSON.stringify(key)} has hyphens`)
  else if (key === '') say('key-syntax', 'the key is empty')
  else say('key-syntax', `the key ${JSON.stringify(key)} is not made of lower-case words with dots between`)
  return key
}

function readEntryValue(index: IndexView, entry: Entry, i: number, { report, extents }: ReadContext): MetaValue {
  const type = valueTypes[entry.type]!
  const value = readValue(index, type, entry.value)
  const place = { offset: entry.value, length: entry.end - entry.value, path: `metadata[${i}].value` }
  extents?.add({ file: report.file, ...place, kind: 'field', value: summary(value) })
  if (type === boolType && index.bytes[entry.value]! > 1) {
    report.report(codes['bool-value'], { ...place, message: `${index.bytes[entry.value]} is neither 0 nor 1` })
  }
  if (value.type === 'str' && value.bytes) {
    report.report(codes['value-utf8'], { ...place, message: 'the string is not UTF-8' })
  }
  return value
}

function summary(value: MetaValue): string | number | bigint | boolean | undefined {
  if (value.type === 'array') return `${value.length} of ${value.item}`
  if (value.type === 'str') return value.value.length > 200 ? `${value.value.slice(0, 200)}…` : value.value
  return 'value' in value ? (value.value as number | bigint | boolean) : undefined
}

/** Undefined when it is refused; nobody may take such a value over. */
function readAlignment(value: MetaValue, entry: Entry, i: number, context: ReadContext): number | undefined {
  const { report, onLost } = context
  const place = { offset: entry.value, length: entry.end - entry.value, path: `metadata[${i}].value` }
  const alignment = alignmentOf(value)
  if (alignment === undefined) {
    const found = value.type === 'u32' ? `${value.value}` : `a value of type ${value.type}`
    const message = `a power of two up to ${maxAlignment} as uint32 was expected, ${found} found`
    report.report(codes.alignment, { ...place, message })
    onLost?.({ subject: 'metadata', name: alignmentKey, reason: message })
    return undefined
  }
  if (alignment % 8 !== 0) {
    report.report(codes['alignment-small'], { ...place, message: `${alignment} is no multiple of 8` })
  }
  return alignment
}
