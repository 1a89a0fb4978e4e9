// Who owns which bytes of the file. Chunks may lie anywhere, but not over the control region; what lies between them is padding and
// should be zero; what lies behind the last one belongs to nobody.
import type { ByteSource } from '../../../bytes/index.js'
import type { ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'
import type { AeroFile } from '../file.js'
import { chunkAlignment, header, tocSize } from '../structs.js'
import { type Chunk, describeChunk, entryPath } from './chunk.js'
import type { Control } from './control.js'

export interface Region {
  readonly start: number
  readonly end: number
  readonly what: string
  readonly chunk?: Chunk
}

/** Header, table, names and all chunks that have bytes, by where they start. `tocLength` is what the table takes, or what it states. */
export function regionsOf(control: Control, tocLength = control.tocLength): Region[] {
  const { tocOffset, stringsOffset, stringsLength } = control
  const regions: Region[] = [
    { start: 0, end: header.size, what: 'the header' },
    { start: tocOffset, end: tocOffset + tocLength, what: 'the table of contents' },
    { start: stringsOffset, end: stringsOffset + stringsLength, what: 'the string table' },
    ...control.chunks.map((chunk) => ({
      start: chunk.offset,
      end: chunk.offset + chunk.length,
      what: describeChunk(chunk),
      chunk,
    })),
  ]
  return regions.filter(({ start, end }) => end > start).sort((a, b) => a.start - b.start || a.end - b.end)
}

/** Stretches between regions, and behind the last one. */
export function gapsOf(control: Control, size: number): { start: number; end: number }[] {
  const gaps: { start: number; end: number }[] = []
  let reached = 0
  for (const { start, end } of regionsOf(control)) {
    if (start > reached) gaps.push({ start: reached, end: start })
    reached = Math.max(reached, end)
  }
  if (reached < size) gaps.push({ start: reached, end: size })
  return gaps
}

export function checkRegions(control: Control, source: ByteSource, context: ReadContext): void {
  const { report } = context
  checkNames(control, context)
  noteUnknown(control, context)
  let last: Region | undefined
  const regions = regionsOf(control, tocSize(control.entryCount))
  for (const region of regions) {
    if (last && region.start < last.end) complainOverlap(last, region, context)
    if (!last || region.end > last.end) last = region
  }
  checkSlack(control, regions, context)
  const end = Math.max(last!.end, control.tocOffset + control.tocLength, ...lastEmpty(control))
  if (end < source.size) {
    const message = `${source.size - end} bytes after ${last!.what} belong to nobody`
    report.report(codes['trailing-bytes'], { offset: end, length: source.size - end, path: 'file', message })
  }
}

/** Nobody reads what the table states beyond its entries, so whatever lies there does no harm; but no writer means it so. */
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

/** An empty chunk at the end may lie behind padding that only exists for it. */
const lastEmpty = (control: Control): number[] => {
  const empty = control.chunks.filter((chunk) => chunk.length === 0)
  return empty.length === 0 ? [] : [empty.reduce((most, chunk) => Math.max(most, chunk.offset), 0)]
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

function checkNames(control: Control, { report }: ReadContext): void {
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

/** After so many of them nobody reads the names. */
function noteUnknown({ chunks }: Control, { report }: ReadContext): void {
  const unknown = chunks.filter(({ fourcc }) => !knownTypes.has(fourcc))
  for (const chunk of unknown.slice(0, maxNoted)) {
    const more = chunk === unknown[maxNoted - 1] ? unknown.length - maxNoted : 0
    const message = `${describeChunk(chunk)} is of a type that AERO does not define${more > 0 ? `, as are ${more} more` : ''}`
    const place = { offset: chunk.offset, length: chunk.length, path: `chunks[${chunk.index}]` }
    report.report(codes['chunk-unknown'], { ...place, message })
  }
}

/** The byte map of the chunks: tensors inside shards, filler between them, padding up to the next chunk. */
export function recordRegions({ control, table }: AeroFile, { extents, report }: ReadContext): void {
  if (!extents) return
  const add = (start: number, end: number, path: string, kind: 'field' | 'data' | 'padding'): void => {
    if (end > start) extents.add({ file: report.file, offset: start, length: end - start, path, kind })
  }
  const reached = new Map<Chunk, number>()
  for (const i of table.inFileOrder()) {
    const shard = table.shardOf(i)
    if (!shard) continue
    const at = reached.get(shard) ?? shard.offset
    add(at, table.startOf(i), `${shard.name}.filler`, 'padding')
    const tensor = table.tensors.at(i)!
    const dataEnd = table.startOf(i) + (tensor.data?.byteLength ?? 0)
    add(table.startOf(i), dataEnd, `data[${JSON.stringify(tensor.name)}]`, 'data')
    add(dataEnd, table.endOf(i), `${shard.name}.filler`, 'padding')
    reached.set(shard, Math.max(at, table.endOf(i)))
  }
  for (const chunk of control.chunks) {
    const start = reached.get(chunk)
    if (start !== undefined) add(start, chunk.offset + chunk.length, `${chunk.name}.filler`, 'padding')
    else add(chunk.offset, chunk.offset + chunk.length, `chunks[${chunk.index}]`, 'field')
  }
  let end = 0
  for (const region of regionsOf(control)) {
    if (region.chunk && region.start > end && region.start - end < chunkAlignment)
      add(end, region.start, 'padding', 'padding')
    end = Math.max(end, region.end)
  }
}
