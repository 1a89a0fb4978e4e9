// The TensorIndex: a header of 48 bytes, then three tables that may stand in any order and overlap: entries of 40 bytes, dimensions (u64
// each) and names. An entry points into the other two. The writer sorts entries by the bytes of their names and says so in a flag, which
// readers use for a binary search; here tensors are taken by position, and the flag is only checked.
import { type ByteSource, decodeLossy, decodeUtf8, type StructValues, toHex, toSafe } from '../../../bytes/index.js'
import type { Code } from '../../../errors/index.js'
import type { ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'
import type { Section } from '../sections.js'
import { flagSorted, indexEntry, indexHeader } from '../structs.js'
import type { Entry } from './entry.js'
import { IndexNames } from './index-names.js'
import { IndexTables } from './index-tables.js'
import { UsualEntries, type UsualEntry } from './usual-entries.js'

/** No honest tensor has more; without a bound, entries that share one long run of dimensions would fill the memory. */
const maxRank = 64

/** Told about every entry that can be read, one at a time: there may be a million. */
export interface IndexVisitor {
  /** `count` entries are announced, and there is room for them. */
  begin(count: number): void
  visit(entry: Entry): void
  /** One that has nothing wrong about it; its data lie within `data`. */
  visitUsual(entry: UsualEntry): void
  readonly data: Section | undefined
}

/** Returns the names of the entries. */
export async function readTensorIndex(
  source: ByteSource,
  section: Section,
  context: ReadContext,
  visitor: IndexVisitor,
): Promise<IndexNames> {
  const { report } = context
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
  const tables = await IndexTables.open(source, section, context)
  const { tensorCount, flags } = tables.head
  const names = new IndexNames(tables.names.bytes, tensorCount, (flags & flagSorted) !== 0, context)
  visitor.begin(tensorCount)
  const usual = visitor.data && !context.extents ? new UsualEntries(tables, visitor.data, source.size) : undefined
  await readEntries(tables, names, usual, context, visitor)
  checkTrailing(tables, context)
  return names
}

async function readEntries(
  tables: IndexTables,
  names: IndexNames,
  usual: UsualEntries | undefined,
  context: ReadContext,
  visitor: IndexVisitor,
): Promise<void> {
  const { report } = context
  const { section, head } = tables
  // Names may share bytes, but not so many of them that decoding a small file fills the memory.
  let nameBudget = 8 * section.size + 65_536
  for (let index = 0; index < head.tensorCount; index++) {
    const at = tables.offsetOf(index)
    if (!tables.isAtHand(index)) await tables.move(index)
    const cursor = tables.entries
    const taken = usual?.take(index)
    if (taken && taken.nameLen <= nameBudget) {
      nameBudget -= taken.nameLen
      cursor.seek(at + indexEntry.size)
      names.add(index, taken.nameOff, taken.nameLen, at)
      visitor.visitUsual(taken)
      continue
    }
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
    names.add(index, fields.nameOff, fields.nameLen, at)
    visitor.visit(entry)
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

function entryFault(
  values: StructValues<typeof indexEntry>,
  { head, places: { stringsSize } }: IndexTables,
): EntryFault | undefined {
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
  { names: cursor, section, places }: IndexTables,
): Uint8Array {
  cursor.seek(section.offset + places.strings + nameOff)
  cursor.enter('names', index)
  const bytes = cursor.raw(nameLen, '', decodeLossy)
  cursor.leave(2)
  return bytes
}

function readShape(
  { rank, dimOff }: StructValues<typeof indexEntry>,
  index: number,
  { dims: cursor, section, places }: IndexTables,
): (number | bigint)[] {
  const shape: (number | bigint)[] = []
  if (rank === 0) return shape
  cursor.seek(section.offset + places.dims + 8 * dimOff)
  cursor.enter('dims', index)
  for (let axis = 0; axis < rank; axis++) {
    const dim = cursor.u64(String(axis))
    shape.push(toSafe(dim) ?? dim)
  }
  cursor.leave(2)
  return shape
}

/** What readers put up with. */
function noteOddities(
  { index, fields, nameBytes, isUtf8, at }: Entry,
  tables: IndexTables,
  { report }: ReadContext,
): void {
  const { section, places } = tables
  const place = {
    offset: section.offset + places.strings + fields.nameOff,
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

function checkTrailing(tables: IndexTables, { report, extents }: ReadContext): void {
  const { section, head, places } = tables
  const end = Math.max(
    indexHeader.size,
    places.entries + head.tensorCount * indexEntry.size,
    places.dims + head.dimsCount * 8,
    places.strings + places.stringsSize,
  )
  if (end === section.size) return
  const place = { offset: section.offset + end, length: section.size - end, path: 'tensor_index.trailing' }
  report.report(codes['index-trailing-bytes'], { ...place, message: `${place.length} bytes follow the last table` })
  extents?.add({ file: report.file, ...place, kind: 'field' })
}
