// Which bytes of the file belong to what. Chunks may lie anywhere, but not over the control region; the bytes between them are padding
// and should be zero; bytes behind the last one belong to nothing.
import { type ByteSource, gaps, inOrder, overlaps, type Range } from '../../../bytes/index.js'
import type { ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'
import type { TensorEntry } from '../file.js'
import { chunkAlignment, header, tocSize } from '../structs.js'
import { type Chunk, describeChunk, endOf, entryPath } from './chunk.js'
import type { Control } from './control.js'

export interface Region extends Range {
  readonly what: string
  readonly chunk?: Chunk
}

/** Header, table, names and all chunks that have bytes, in the order of the file. `tocLength`: what the table states, or what it takes. */
export function regionsOf(control: Control, tocLength = control.tocLength): readonly Region[] {
  const { tocOffset, stringsOffset, stringsLength } = control
  const regions: Region[] = [
    { start: 0, end: header.size, what: 'the header' },
    { start: tocOffset, end: tocOffset + tocLength, what: 'the table of contents' },
    { start: stringsOffset, end: stringsOffset + stringsLength, what: 'the string table' },
  ]
  for (const chunk of control.chunks)
    regions.push({ start: chunk.offset, end: endOf(chunk), what: describeChunk(chunk), chunk })
  const filled = regions.filter(({ start, end }) => end > start)
  return inOrder(filled, 'shortest')
}

/** The ranges between the regions. What follows the last one is no gap but trailing bytes. */
export function gapsOf(control: Control): Iterable<Range> {
  const regions = regionsOf(control)
  return gaps(regions, 0, lastOf(regions).end)
}

const lastOf = (regions: readonly Region[]): Region =>
  regions.reduce((last, region) => (region.end > last.end ? region : last))

export function checkRegions(control: Control, source: ByteSource, context: ReadContext): void {
  reportDuplicates(control, context)
  noteUnknown(control, context)
  const regions = regionsOf(control, tocSize(control.entryCount))
  for (const [before, region] of overlaps(regions)) complainOverlap(before, region, context)
  checkSlack(control, regions, context)
  reportTrailing(control, lastOf(regions), source, context)
}

function reportDuplicates(control: Control, { report }: ReadContext): void {
  const seen = new Map<string, Chunk>()
  for (const chunk of control.chunks) {
    const key = `${chunk.fourcc}${chunk.name}`
    const first = seen.get(key)
    if (!first) seen.set(key, chunk)
    else {
      const message = `entry ${first.index} is ${describeChunk(chunk)} too; readers use that one`
      report.report(codes['chunk-duplicate-name'], { offset: chunk.offset, path: entryPath(chunk.index), message })
    }
  }
}

const knownTypes: ReadonlySet<string> = new Set(['MJSN', 'MMSG', 'TIDX', 'WTSH', 'IHSH', 'PHSH'])
const maxNoted = 20

function noteUnknown({ chunks }: Control, { report }: ReadContext): void {
  const unknown = chunks.filter(({ fourcc }) => !knownTypes.has(fourcc))
  for (const chunk of unknown.slice(0, maxNoted)) {
    const more = chunk === unknown[maxNoted - 1] ? unknown.length - maxNoted : 0
    const message = `${describeChunk(chunk)} is of a type that AERO does not define${more > 0 ? `, as are ${more} more` : ''}`
    const place = { offset: chunk.offset, length: chunk.length, path: `chunks[${chunk.index}]` }
    report.report(codes['chunk-unknown'], { ...place, message })
  }
}

function complainOverlap(before: Region, region: Region, { report }: ReadContext): void {
  const length = Math.min(before.end, region.end) - region.start
  const chunk = region.chunk ?? before.chunk
  const path = chunk ? `${entryPath(chunk.index)}.chunk_offset` : 'header'
  const place = { offset: region.start, length, path }
  const message = `${before.what} and ${region.what} share ${length} bytes`
  if (before.chunk?.fourcc === 'TIDX' && region.chunk?.fourcc === 'WTSH') {
    const lost = `${message}: the index was written over the weights (defect D2)`
    report.report(codes['defect-overwritten-weights'], { ...place, message: lost })
  } else if (before.chunk && region.chunk) report.report(codes['chunk-overlap'], { ...place, message })
  else report.report(codes[chunk ? 'chunk-overlaps-control' : 'control-overlap'], { ...place, message })
}

/** No reader looks at what the table states beyond its entries, so it does no harm if something else lies there; but no writer does that. */
function checkSlack(
  { tocOffset, tocLength, entryCount }: Control,
  regions: readonly Region[],
  { report }: ReadContext,
): void {
  const start = tocOffset + tocSize(entryCount)
  const end = tocOffset + tocLength
  const over = regions.find((region) => region.start < end && region.end > start)
  if (start === end || !over) return
  const message = `the table of contents states ${tocLength} bytes, but behind its ${entryCount} entries lies ${over.what}`
  const place = { offset: header.offsetOf('tocLength'), length: 8, path: 'header.toc_length' }
  report.report(codes['control-overlap'], { ...place, message })
}

function reportTrailing(control: Control, last: Region, { size }: ByteSource, { report }: ReadContext): void {
  // An empty chunk at the end may lie behind padding that is there for it alone.
  const empty = control.chunks.reduce((max, { offset, length }) => (length === 0 ? Math.max(max, offset) : max), 0)
  const end = Math.max(last.end, control.tocOffset + control.tocLength, empty)
  if (end >= size) return
  const message = `${size - end} bytes after ${last.what} belong to nothing`
  report.report(codes['trailing-bytes'], { offset: end, length: size - end, path: 'file', message })
}

/** The byte map of the chunks: tensors inside shards, filler between them, padding up to the next chunk. */
export function recordRegions(
  control: Control,
  entries: readonly TensorEntry[],
  { extents, report }: ReadContext,
): void {
  if (!extents) return
  const add = (start: number, end: number, path: string, kind: 'field' | 'data' | 'padding'): void => {
    if (end > start) extents.add({ file: report.file, offset: start, length: end - start, path, kind })
  }
  const reached = new Map<Chunk, number>()
  for (const { tensor, shard, start, end } of inOrder(entries, 'shortest')) {
    if (!shard) continue
    const before = reached.get(shard) ?? shard.offset
    const dataEnd = start + (tensor.data?.byteLength ?? 0)
    add(before, start, `${shard.name}.filler`, 'padding')
    add(start, dataEnd, `data[${JSON.stringify(tensor.name)}]`, 'data')
    add(dataEnd, end, `${shard.name}.filler`, 'padding')
    reached.set(shard, Math.max(before, end))
  }
  for (const chunk of control.chunks) {
    const start = reached.get(chunk)
    if (start !== undefined) add(start, endOf(chunk), `${chunk.name}.filler`, 'padding')
    else add(chunk.offset, endOf(chunk), `chunks[${chunk.index}]`, 'field')
  }
  let end = 0
  for (const region of regionsOf(control)) {
    if (region.chunk && region.start > end && region.start - end < chunkAlignment)
      add(end, region.start, 'padding', 'padding')
    end = Math.max(end, region.end)
  }
}
