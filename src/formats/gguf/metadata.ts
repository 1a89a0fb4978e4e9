// The metadata of one file, out of the entries that were found in its index.
import { decodeLossy, decodeUtf8 } from '../../bytes/index.js'
import type { Metadata, MetaValue, ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import type { Entry } from './parse-index.js'
import { alignmentKey, alignmentOf, defaultAlignment, maxAlignment, maxKeyBytes } from './structs.js'
import { boolType, valueTypes } from './value-types.js'
import { type IndexBytes, readValue } from './values.js'

export function readMetadata(
  index: IndexBytes,
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

function readKey(index: IndexBytes, entry: Entry, i: number, { report, extents }: ReadContext): string | undefined {
  const { lengthSize } = index.encoding
  const start = entry.start + lengthSize
  const bytes = index.window.slice(start, entry.keyLength)
  const key = decodeUtf8(bytes)
  const say = (code: keyof typeof codes, message: string): void =>
    report.report(codes[code], { offset: start, length: entry.keyLength, path: `metadata[${i}].key`, message })
  const note = (offset: number, length: number, field: string, value: string | number | undefined): void =>
    extents?.add({ file: report.file, offset, length, path: `metadata[${i}].${field}`, kind: 'field', value })
  note(entry.start, lengthSize, 'key_length', entry.keyLength)
  note(start, entry.keyLength, 'key', decodeLossy(bytes))
  note(start + entry.keyLength, 4, 'value_type', entry.type)
  if (entry.keyLength > maxKeyBytes) say('key-length', `the key has ${entry.keyLength} bytes`)
  if (key === undefined) say('key-utf8', 'the key is not UTF-8')
  else if (/^[a-z0-9_]+(?:\.[a-z0-9_]+)*$/.test(key)) return key
  else if (/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/.test(key)) say('key-hyphen', `the key ${JSON.stringify(key)} has hyphens`)
  else if (key === '') say('key-syntax', 'the key is empty')
  else say('key-syntax', `the key ${JSON.stringify(key)} is not made of lower-case words with dots between`)
  return key
}

function readEntryValue(index: IndexBytes, entry: Entry, i: number, { report, extents }: ReadContext): MetaValue {
  const type = valueTypes[entry.type]!
  const value = readValue(index, type, entry.value)
  const place = { offset: entry.value, length: entry.end - entry.value, path: `metadata[${i}].value` }
  extents?.add({ file: report.file, ...place, kind: 'field', value: summary(value) })
  if (type === boolType && index.window.bytes[entry.value]! > 1) {
    report.report(codes['bool-value'], { ...place, message: `${index.window.bytes[entry.value]} is neither 0 nor 1` })
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

/** Undefined when the value is refused; then the key is left out. */
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
