// The TensorIndex: a header of 48 bytes, then three tables that may stand in any order and overlap: entries of 40 bytes, dimensions (u64
// each) and names. An entry points into the other two. The writer sorts entries by the bytes of their names and says so in a flag, which
// readers use for a binary search; here tensors are taken by position, and the flag is only checked.
import {
  type ByteSource,
  Cursor,
  checkedAdd,
  decodeLossy,
  decodeUtf8,
  type StructValues,
  toHex,
  toSafe,
} from '../../bytes/index.js'
import type { Code } from '../../errors/index.js'
import type { ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import type { Entry } from './entry.js'
import { NameCheck } from './index-names.js'
import type { Section } from './sections.js'
import { flagSorted, indexEntry, indexHeader } from './structs.js'

/** No honest tensor has more; without a bound, entries that share one long run of dimensions would fill the memory. */
const maxRank = 64

interface Tables {
  readonly section: Section
  readonly cursor: Cursor
  readonly head: StructValues<typeof indexHeader>
  readonly entries: number
  readonly dims: number
  readonly strings: number
  readonly stringsSize: number
}

/** Hands every entry that can be read to `visit`, one at a time: there may be a million. Returns how many there should be. */
export async function readTensorIndex(
  source: ByteSource,
  section: Section,
  context: ReadContext,
  visit: (entry: Entry) => void,
): Promise<number> {
  const { report } = context
  const path = 'tensor_index'
  const whole = { offset: section.offset, length: section.size, path }
  if (section.size === 0) report.fail(codes['store-empty-tensor-index'], { ...whole, message: 'the section is empty' })
  if (section.size < indexHeader.size) {
    const message = `${section.size} bytes, the header of the index takes ${indexHeader.size}`
    report.fail(codes['index-too-short'], { ...whole, message })
  }
  if (section.size > context.limits.indexBytes) {
    const message = `the index takes ${section.size} bytes, the limit is ${context.limits.indexBytes}`
    report.fail(codes['index-over-limit'], { ...whole, message })
  }
  const bytes = await source.read(section.offset, section.size, { signal: context.signal })
  const cursor = new Cursor(bytes, report, { base: section.offset, extents: context.extents, path: [path] })
  const tables = placeTables(cursor, section)
  readEntries(tables, context, visit)
  checkTrailing(tables, context)
  return tables.head.tensorCount
}

function placeTables(cursor: Cursor, section: Section): Tables {
  const head = indexHeader.read(cursor)
  const fail = (code: Code, field: keyof typeof head & string, name: string, message: string): never =>
    cursor.report.fail(code, {
      offset: section.offset + indexHeader.offsetOf(field),
      path: `tensor_index.${name}`,
      message,
    })
  if (head.version !== 1) fail(codes['index-version'], 'version', 'version', `version ${head.version}, only 1 is known`)
  if (head.tensorCount === 0) fail(codes['index-count-zero'], 'tensorCount', 'tensor_count', 'no tensors are listed')
  // Sums are made of safe numbers only, so an offset near 2^64 cannot wrap around as it does in the reference.
  const place = (offset: bigint, size: number | undefined, code: Code, field: keyof typeof head & string): number => {
    const start = toSafe(offset)
    const end = start === undefined || size === undefined ? undefined : checkedAdd(start, size)
    if (start !== undefined && end !== undefined && end <= section.size) return start
    const name = field.replace('Off', '_off')
    const message = `${size ?? 'more than 2^53'} bytes from ${offset} on, the section has ${section.size}`
    return fail(code, field, name, message)
  }
  const entrySize = head.tensorCount * indexEntry.size
  const stringsSize = toSafe(head.stringsSize)
  return {
    section,
    cursor,
    head,
    entries: place(head.entriesOff, entrySize, codes['index-entries-out-of-bounds'], 'entriesOff'),
    dims: place(head.dimsOff, head.dimsCount * 8, codes['index-dims-out-of-bounds'], 'dimsOff'),
    strings: place(head.stringsOff, stringsSize, codes['index-strings-out-of-bounds'], 'stringsOff'),
    stringsSize: stringsSize!,
  }
}

function readEntries(tables: Tables, context: ReadContext, visit: (entry: Entry) => void): void {
  const { cursor, section, head } = tables
  const { report } = context
  const names = new NameCheck((head.flags & flagSorted) !== 0, context)
  // Names may share bytes, but not so many of them that decoding a small file fills the memory.
  let nameBudget = 8 * section.size + 65_536
  for (let index = 0; index < head.tensorCount; index++) {
    const at = section.offset + tables.entries + index * indexEntry.size
    cursor.seek(at)
    cursor.enter('entries', index)
    const fields = indexEntry.read(cursor)
    cursor.leave(2)
    nameBudget -= fields.nameLen
    const fault = entryFault(fields, tables) ?? (nameBudget < 0 ? overBudget : undefined)
    if (fault) {
      const place = { offset: at + indexEntry.offsetOf(fault.field), length: 4 }
      const path = `tensor_index.entries[${index}].${fault.name}`
      if (fault === overBudget) report.fail(fault.code, { ...place, path, message: fault.message })
      report.report(fault.code, { ...place, path, message: fault.message })
      continue
    }
    const nameBytes = readName(fields, index, tables)
    const text = decodeUtf8(nameBytes)
    const [isUtf8, name] = [text !== undefined, text ?? decodeLossy(nameBytes)]
    const entry: Entry = { index, fields, name, nameBytes, isUtf8, shape: readShape(fields, index, tables), at }
    if (fields.reserved !== 0 || nameBytes.byteLength === 0 || !isUtf8) noteOddities(entry, tables, context)
    names.add(entry)
    visit(entry)
  }
}

interface EntryFault {
  readonly code: Code
  readonly field: keyof StructValues<typeof indexEntry> & string
  readonly name: string
  readonly message: string
}

const overBudget: EntryFault = {
  code: codes['index-names-over-limit'],
  field: 'nameLen',
  name: 'name_len',
  message: 'the names of all entries together are many times as long as the index',
}

function entryFault(values: StructValues<typeof indexEntry>, { head, stringsSize }: Tables): EntryFault | undefined {
  const { dtype, nameOff, nameLen, rank, dimOff } = values
  if (dtype > 0xffff) {
    const message = `the element type is 0x${dtype.toString(16)}`
    return { code: codes['index-dtype-over-16-bit'], field: 'dtype', name: 'dtype', message }
  }
  if (nameOff + nameLen > stringsSize) {
    const message = `${nameLen} bytes from ${nameOff} on, there are ${stringsSize} bytes of names`
    return { code: codes['index-name-out-of-bounds'], field: 'nameLen', name: 'name_len', message }
  }
  if (rank > 0 && dimOff + rank > head.dimsCount) {
    const message = `${rank} dimensions from number ${dimOff} on, there are ${head.dimsCount}`
    return { code: codes['index-shape-out-of-bounds'], field: 'rank', name: 'rank', message }
  }
  if (rank > maxRank) {
    const message = `${rank} dimensions, at most ${maxRank} are read`
    return { code: codes['index-rank-over-limit'], field: 'rank', name: 'rank', message }
  }
  return undefined
}

function readName(
  { nameOff, nameLen }: StructValues<typeof indexEntry>,
  index: number,
  { cursor, section, strings }: Tables,
): Uint8Array {
  cursor.seek(section.offset + strings + nameOff)
  cursor.enter('names', index)
  const bytes = cursor.raw(nameLen, '', decodeLossy)
  cursor.leave(2)
  return bytes
}

function readShape(
  { rank, dimOff }: StructValues<typeof indexEntry>,
  index: number,
  { cursor, section, dims }: Tables,
): (number | bigint)[] {
  const shape: (number | bigint)[] = []
  if (rank === 0) return shape
  cursor.seek(section.offset + dims + 8 * dimOff)
  cursor.enter('dims', index)
  for (let axis = 0; axis < rank; axis++) {
    const dim = cursor.u64(String(axis))
    shape.push(toSafe(dim) ?? dim)
  }
  cursor.leave(2)
  return shape
}

/** What readers put up with. */
function noteOddities({ index, fields, nameBytes, isUtf8, at }: Entry, tables: Tables, { report }: ReadContext): void {
  const { section, strings } = tables
  const place = {
    offset: section.offset + strings + fields.nameOff,
    length: fields.nameLen,
    path: `tensor_index.names[${index}]`,
  }
  if (fields.nameLen === 0) report.report(codes['name-empty'], { ...place, message: 'the name is empty' })
  if (!isUtf8) {
    const message = `the bytes ${toHex(nameBytes.subarray(0, 32))} are not UTF-8`
    report.report(codes['name-not-utf8'], { ...place, message })
  }
  if (fields.reserved === 0) return
  const reserved = { offset: at + indexEntry.offsetOf('reserved'), path: `tensor_index.entries[${index}].reserved` }
  report.report(codes['index-reserved'], { ...reserved, length: 4, message: `it is ${fields.reserved}` })
}

function checkTrailing(tables: Tables, { report, extents }: ReadContext): void {
  const { section, head } = tables
  const end = Math.max(
    indexHeader.size,
    tables.entries + head.tensorCount * indexEntry.size,
    tables.dims + head.dimsCount * 8,
    tables.strings + tables.stringsSize,
  )
  if (end === section.size) return
  const place = { offset: section.offset + end, length: section.size - end, path: 'tensor_index.trailing' }
  report.report(codes['index-trailing-bytes'], { ...place, message: `${place.length} bytes follow the last table` })
  extents?.add({ file: report.file, ...place, kind: 'field' })
}
