// The TensorIndex: a header of 48 bytes, then three tables that may stand in any order and overlap: entries of 40 bytes, dimensions (u64
// each) and names. An entry points into the other two. Writers sort entries by the bytes of their names and say so in a flag, which other
// readers use for a binary search; tare takes tensors by position, and only checks the flag.
import {
  type ByteSource,
  Cursor,
  checkedAdd,
  decodeLossy,
  decodeUtf8,
  type StructValues,
  toHex,
  toSafe,
  wideAt,
} from '../../../bytes/index.js'
import type { Code } from '../../../errors/index.js'
import type { ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'
import type { Section } from '../sections.js'
import { flagSorted, indexEntry, indexHeader } from '../structs.js'
import { doNamesAscend, NameChecks, type NamedEntry } from './names.js'

type Header = StructValues<typeof indexHeader>
type Fields = StructValues<typeof indexEntry>

/** One tensor as the index describes it. Only its name and dimensions are known to lie inside their tables. */
export interface Entry extends NamedEntry {
  readonly fields: Fields
  /** Dimensions beyond 2^53-1 are bigints. */
  readonly shape: readonly (number | bigint)[]
}

export interface TensorIndex {
  readonly count: number
  /** The entries that can be read, checked on the way; this can be iterated once. */
  readonly entries: Iterable<Entry>
}

/** No honest tensor has more; without a bound, entries that share one long run of dimensions would fill the memory. */
const maxRank = 64

export async function readTensorIndex(
  source: ByteSource,
  section: Section,
  context: ReadContext,
): Promise<TensorIndex> {
  const { report, extents, signal } = context
  const whole = { offset: section.offset, length: section.size, path: 'tensor_index' }
  if (section.size === 0) report.fail(codes['store-empty-tensor-index'], { ...whole, message: 'the section is empty' })
  if (section.size < indexHeader.size) {
    const message = `${section.size} bytes, the header of the index takes ${indexHeader.size}`
    report.fail(codes['index-too-short'], { ...whole, message })
  }
  if (section.size > context.limits.indexBytes) {
    const message = `the index takes ${section.size} bytes, the limit is ${context.limits.indexBytes}`
    report.fail(codes['index-over-limit'], { ...whole, message })
  }
  const bytes = await source.read(section.offset, section.size, { signal })
  const cursor = new Cursor(bytes, report, { base: section.offset, extents, path: ['tensor_index'] })
  const head = indexHeader.read(cursor)
  const tables = placeTables(head, section, context)
  return { count: head.tensorCount, entries: readEntries(cursor, head, tables, section, context) }
}

/** File offsets of the tables. */
interface Tables {
  readonly entries: number
  readonly dims: number
  readonly names: number
  readonly namesSize: number
}

function placeTables(head: Header, section: Section, { report }: ReadContext): Tables {
  const fail = (code: Code, field: keyof Header & string, message: string): never =>
    report.fail(code, {
      offset: section.offset + indexHeader.offsetOf(field),
      path: `tensor_index.${indexHeader.nameOf(field)}`,
      message,
    })
  if (head.version !== 1) fail(codes['index-version'], 'version', `version ${head.version}, only 1 is known`)
  if (head.tensorCount === 0) fail(codes['index-count-zero'], 'tensorCount', 'no tensors are listed')
  // Sums are made of safe numbers only, so an offset near 2^64 cannot wrap around as it does in the reference.
  const place = (field: 'entriesOff' | 'dimsOff' | 'stringsOff', size: number | undefined, code: Code): number => {
    const start = toSafe(head[field])
    const end = start === undefined || size === undefined ? undefined : checkedAdd(start, size)
    if (start !== undefined && end !== undefined && end <= section.size) return section.offset + start
    const message = `${size ?? 'more than 2^53'} bytes from ${head[field]} on, the section has ${section.size}`
    return fail(code, field, message)
  }
  const namesSize = toSafe(head.stringsSize)
  return {
    entries: place('entriesOff', head.tensorCount * indexEntry.size, codes['index-entries-out-of-bounds']),
    dims: place('dimsOff', head.dimsCount * 8, codes['index-dims-out-of-bounds']),
    names: place('stringsOff', namesSize, codes['index-strings-out-of-bounds']),
    namesSize: namesSize!,
  }
}

function* readEntries(
  cursor: Cursor,
  head: Header,
  tables: Tables,
  section: Section,
  context: ReadContext,
): Generator<Entry, void, void> {
  const { report, extents } = context
  const names = cursor.bytes.subarray(tables.names - section.offset, tables.names - section.offset + tables.namesSize)
  const ascii = asciiOf(names)
  // Names may share bytes, but not so many that the names of a small file fill the memory.
  let nameBudget = 8 * section.size + 65_536
  let shape: Entry['shape'] = []
  const areSorted = doNamesAscend(cursor, head, names, nameBudget)
  const checks = areSorted ? undefined : new NameChecks((head.flags & flagSorted) !== 0, context)
  for (let index = 0; index < head.tensorCount; index++) {
    const at = tables.entries + index * indexEntry.size
    const fields = readFields(cursor, at - section.offset)
    if (extents) noteFields(cursor, at, index)
    nameBudget -= fields.nameLen
    const fault = entryFault(fields, head, tables) ?? (nameBudget < 0 ? overBudget : undefined)
    if (fault) {
      const place = { offset: at + indexEntry.offsetOf(fault.field), length: 4 }
      const path = `tensor_index.entries[${index}].${indexEntry.nameOf(fault.field)}`
      if (fault === overBudget) report.fail(fault.code, { ...place, path, message: fault.message })
      report.report(fault.code, { ...place, path, message: fault.message })
      continue
    }
    if (extents) noteName(cursor, tables.names + fields.nameOff, fields.nameLen, index)
    const text = ascii?.slice(fields.nameOff, fields.nameOff + fields.nameLen) ?? decodeUtf8(bytesOfName(names, fields))
    const rawName = text === undefined ? bytesOfName(names, fields).slice() : undefined
    shape = readShape(cursor, tables.dims + 8 * fields.dimOff, fields, shape, index)
    const entry: Entry = { index, fields, name: text ?? decodeLossy(rawName!), rawName, shape, at }
    reportOddities(entry, tables, context)
    checks?.check(entry)
    yield entry
  }
  checkTrailing(head, tables, section, context)
}

const { get } = indexEntry

const readFields = ({ view }: Cursor, at: number): Fields => ({
  nameOff: get.nameOff(view, at),
  nameLen: get.nameLen(view, at),
  dtype: get.dtype(view, at),
  rank: get.rank(view, at),
  dimOff: get.dimOff(view, at),
  reserved: get.reserved(view, at),
  dataOff: get.dataOff(view, at),
  dataSize: get.dataSize(view, at),
})

function noteFields(cursor: Cursor, at: number, index: number): void {
  cursor.seek(at)
  cursor.enter('entries', index)
  indexEntry.read(cursor)
  cursor.leave(2)
}

/** All names as one text, if they are ASCII, as they mostly are: cutting names out of it is faster than decoding each. */
function asciiOf(names: Uint8Array): string | undefined {
  const text = decodeUtf8(names)
  return text?.length === names.byteLength ? text : undefined
}

const bytesOfName = (names: Uint8Array, { nameOff, nameLen }: Fields): Uint8Array =>
  names.subarray(nameOff, nameOff + nameLen)

interface EntryFault {
  readonly code: Code
  readonly field: keyof Fields & string
  readonly message: string
}

const overBudget: EntryFault = {
  code: codes['index-names-over-limit'],
  field: 'nameLen',
  message: 'the names of all entries together are many times as long as the index',
}

function entryFault(
  { dtype, nameOff, nameLen, rank, dimOff }: Fields,
  { dimsCount }: Header,
  { namesSize }: Tables,
): EntryFault | undefined {
  if (dtype > 0xffff) {
    const message = `the element type is 0x${dtype.toString(16)}`
    return { code: codes['index-dtype-over-16-bit'], field: 'dtype', message }
  }
  if (nameOff + nameLen > namesSize) {
    const message = `${nameLen} bytes from ${nameOff} on, there are ${namesSize} bytes of names`
    return { code: codes['index-name-out-of-bounds'], field: 'nameLen', message }
  }
  if (rank > 0 && dimOff + rank > dimsCount) {
    const message = `${rank} dimensions from number ${dimOff} on, there are ${dimsCount}`
    return { code: codes['index-shape-out-of-bounds'], field: 'rank', message }
  }
  if (rank > maxRank) {
    const message = `${rank} dimensions, at most ${maxRank} are read`
    return { code: codes['index-rank-over-limit'], field: 'rank', message }
  }
  return undefined
}

function noteName(cursor: Cursor, at: number, length: number, index: number): void {
  cursor.seek(at)
  cursor.enter('names', index)
  cursor.raw(length, '', decodeLossy)
  cursor.leave(2)
}

/** `last` is the shape of the entry before: neighbours are often alike, and then share it. */
function readShape(cursor: Cursor, at: number, { rank }: Fields, last: Entry['shape'], index: number): Entry['shape'] {
  if (rank === 0) return []
  cursor.seek(at)
  if (cursor.extents) noteDims(cursor, rank, index)
  const { view, position } = cursor
  let same = 0
  while (same < rank && wideAt(view, position + 8 * same) === last[same]) same++
  if (same === rank && last.length === rank) return last
  return Array.from({ length: rank }, (_, axis) => wideAt(view, position + 8 * axis))
}

function noteDims(cursor: Cursor, rank: number, index: number): void {
  const { offset } = cursor
  cursor.enter('dims', index)
  for (let axis = 0; axis < rank; axis++) cursor.u64(String(axis))
  cursor.leave(2)
  cursor.seek(offset)
}

/** What readers put up with. */
function reportOddities({ index, fields, rawName, at }: Entry, tables: Tables, { report }: ReadContext): void {
  if (fields.nameLen > 0 && !rawName && fields.reserved === 0) return
  const name = { offset: tables.names + fields.nameOff, length: fields.nameLen, path: `tensor_index.names[${index}]` }
  if (fields.nameLen === 0) report.report(codes['name-empty'], { ...name, message: 'the name is empty' })
  if (rawName) {
    const message = `the bytes ${toHex(rawName.subarray(0, 32))} are not UTF-8`
    report.report(codes['name-not-utf8'], { ...name, message })
  }
  if (fields.reserved === 0) return
  const reserved = { offset: at + indexEntry.offsetOf('reserved'), path: `tensor_index.entries[${index}].reserved` }
  report.report(codes['index-reserved'], { ...reserved, length: 4, message: `it is ${fields.reserved}` })
}

function checkTrailing(head: Header, tables: Tables, section: Section, { report, extents }: ReadContext): void {
  const end = Math.max(
    section.offset + indexHeader.size,
    tables.entries + head.tensorCount * indexEntry.size,
    tables.dims + head.dimsCount * 8,
    tables.names + tables.namesSize,
  )
  const length = section.offset + section.size - end
  if (length === 0) return
  const place = { offset: end, length, path: 'tensor_index.trailing' }
  report.report(codes['index-trailing-bytes'], { ...place, message: `${length} bytes follow the last table` })
  extents?.add({ file: report.file, ...place, kind: 'field' })
}
