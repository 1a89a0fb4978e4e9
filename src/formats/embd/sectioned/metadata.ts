// The metadata section: entry count and total size, then entries of key length u16, value length u16, key, value.
import { Cursor, decodeLossy, decodeUtf8 } from '../../../bytes/index.js'
import type { MetaValue, Part, ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'
import { repeatedKind } from '../parts.js'
import { bytesPerEntry, metadataEntry, metadataHeader, requiredKeys } from '../structs.js'

export interface MetadataSection {
  readonly metadata: Map<string, MetaValue>
  /** Entries whose key had come before. */
  readonly repeated: readonly (readonly [key: string, value: string])[]
}

/** `bytes` is the whole section, at `offset` in the file. */
export function readMetadata(bytes: Uint8Array, offset: number, context: ReadContext): MetadataSection {
  const { report } = context
  const cursor = new Cursor(bytes, report, { base: offset, extents: context.extents, path: ['metadata'] })
  const { entryCount, totalSize } = metadataHeader.read(cursor)
  if (totalSize !== cursor.remaining) {
    const message = `total_size is ${totalSize}, but the section has ${cursor.remaining} bytes for entries`
    report.report(codes['metadata-total-size'], { offset: offset + 4, length: 4, path: 'metadata.total_size', message })
  }
  const metadata = new Map<string, MetaValue>()
  const repeated: [string, string][] = []
  cursor.enter('entries', 0)
  for (let i = 0; i < entryCount; i++) {
    cursor.leave()
    cursor.enter(i)
    const entry = readEntry(cursor, context)
    if (!entry) return { metadata, repeated }
    if ((metadata.size + repeated.length) * bytesPerEntry > context.limits.indexBytes) {
      const message = `more than ${metadata.size + repeated.length} metadata entries are over the limit`
      report.fail(codes['index-limit'], { offset: entry.offset, path: cursor.pathOf(), message })
    }
    if (entry.key === undefined) continue
    const first = metadata.get(entry.key)
    if (!first) metadata.set(entry.key, entry.value)
    else {
      repeated.push([entry.key, showValue(entry.value)])
      const message = `${JSON.stringify(entry.key)} was there before: ${JSON.stringify(showValue(first))} counts, ${JSON.stringify(showValue(entry.value))} does not`
      report.report(codes['metadata-duplicate-key'], { offset: entry.offset, path: cursor.pathOf('key'), message })
    }
  }
  if (cursor.remaining > 0) {
    const message = `${cursor.remaining} bytes follow the last of ${entryCount} entries`
    report.report(codes['metadata-entries'], { offset: cursor.offset, path: 'metadata.entry_count', message })
  }
  return { metadata, repeated }
}

interface Entry {
  /** undefined when it is not UTF-8. */
  readonly key: string | undefined
  readonly value: MetaValue
  readonly offset: number
}

/** undefined when the entry runs past the section; nothing after it can be found then. */
function readEntry(cursor: Cursor, { report }: ReadContext): Entry | undefined {
  const { offset } = cursor
  const overrun = (needed: number): undefined => {
    const message = `${needed} bytes are needed here, but only ${cursor.remaining} are left in the section`
    report.report(codes['metadata-entries'], { offset, path: cursor.pathOf(), message })
  }
  if (cursor.remaining < metadataEntry.size) return overrun(metadataEntry.size)
  const { keyLength, valueLength } = metadataEntry.read(cursor)
  if (cursor.remaining < keyLength + valueLength) return overrun(keyLength + valueLength)
  const key = decodeUtf8(cursor.raw(keyLength, 'key', decodeLossy))
  if (key === undefined) {
    report.report(codes['metadata-key-utf8'], { offset: offset + 4, path: cursor.pathOf('key'), message: 'not UTF-8' })
  }
  const bytes = cursor.raw(valueLength, 'value', (value) => decodeLossy(value.subarray(0, 200)))
  const value = decodeUtf8(bytes)
  if (value !== undefined) return { key, value: { type: 'str', value }, offset }
  const place = { offset: offset + 4 + keyLength, path: cursor.pathOf('value') }
  report.report(codes['metadata-value-utf8'], { ...place, message: 'not UTF-8; the bytes are kept' })
  return { key, value: { type: 'str', value: decodeLossy(bytes), bytes: bytes.slice() }, offset }
}

const showValue = (value: MetaValue): string => (value.type === 'str' ? value.value : value.type)

export function checkRequiredKeys(
  metadata: ReadonlyMap<string, MetaValue>,
  offset: number,
  { report }: ReadContext,
): void {
  const missing = requiredKeys.filter((key) => !metadata.has(key))
  if (missing.length === 0) return
  report.report(codes['metadata-required-keys'], {
    offset,
    path: 'metadata',
    message: `missing: ${missing.join(', ')}`,
  })
}

/** Compares what the metadata say with how many tokens there are. */
export function checkVocabSize(metadata: ReadonlyMap<string, MetaValue>, count: number, { report }: ReadContext): void {
  const stated = metadata.get('vocab_size')
  if (stated?.type !== 'str' || stated.value.trim() === '' || Number(stated.value) === count) return
  const message = `vocab_size is ${JSON.stringify(stated.value)}, but the vocabulary has ${count} tokens`
  report.report(codes['metadata-vocab-size'], { offset: 0, path: 'metadata["vocab_size"]', message })
}

export function repeatedPart(repeated: MetadataSection['repeated']): Part[] {
  return repeated.length === 0 ? [] : [{ kind: repeatedKind, sharing: 'private', value: repeated }]
}
