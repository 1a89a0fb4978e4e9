// Any range of a q* or k* payload, made without the rest. Its regions (scales, sub-scales, codes) follow each other, and a row has a fixed
// length in each. Making any of them for a row takes nearly the same work, the search for its scales, so ranges together take more than the
// whole: a range of codes searches again for scales that another one holds.
import type { BlockLayout, Method } from '../../dtypes/mcf/layout.js'
import { rechunked, type Slices } from '../../model/index.js'
import { byteCosts } from '../../threads/costs.js'

export type RegionName = 'halves' | 'subScales' | 'codes'

export interface Region {
  readonly name: RegionName
  readonly start: number
  /** Bytes for each row. */
  readonly perRow: number
}

/** The bytes of some rows in a region, in order. */
export type MakeRows = (
  region: RegionName,
  firstRow: number,
  rows: number,
  signal: AbortSignal | undefined,
) => AsyncIterable<Uint8Array>

export function regionsOf({ family }: Method, layout: BlockLayout): readonly Region[] {
  const { blocksPerRow, supersPerRow, subScalesOffset, codesOffset, codeSize } = layout
  const codes: Region = { name: 'codes', start: codesOffset, perRow: blocksPerRow * codeSize }
  if (family === 'q') return [{ name: 'halves', start: 0, perRow: 2 * blocksPerRow }, codes]
  return [
    { name: 'halves', start: 0, perRow: 2 * supersPerRow },
    { name: 'subScales', start: subScalesOffset, perRow: blocksPerRow },
    codes,
  ]
}

/** The bytes from `from` to `to`, with zeros between the regions. */
export async function* regionBytes(
  method: Method,
  layout: BlockLayout,
  from: number,
  to: number,
  make: MakeRows,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  let at = from
  for (const { name, start, perRow } of regionsOf(method, layout)) {
    if (at < start && at < to) yield new Uint8Array(Math.min(start, to) - at)
    const [low, high] = [Math.max(at, start), Math.min(to, start + layout.rows * perRow)]
    at = Math.max(low, Math.min(to, start))
    if (low >= high) continue
    const firstRow = Math.floor((low - start) / perRow)
    let position = start + firstRow * perRow
    for await (const bytes of make(name, firstRow, Math.ceil((high - start) / perRow) - firstRow, signal)) {
      const part = bytes.subarray(Math.max(0, low - position), Math.max(0, high - position))
      position += bytes.byteLength
      if (part.byteLength > 0) yield part
    }
    at = high
  }
}

export function regionSlices(method: Method, layout: BlockLayout, make: MakeRows): Slices {
  const rowCost = workCost(layout) / layout.rows
  const regions = regionsOf(method, layout)
  const costRanges = regions.map(({ perRow }, i) => ({
    end: regions[i + 1]?.start ?? layout.byteLength,
    cost: rowCost / perRow,
  }))
  return {
    unit: 1,
    costRanges,
    take: (offset, byteLength) => ({
      byteLength,
      chunks: (window, signal) =>
        rechunked(regionBytes(method, layout, offset, offset + byteLength, make, signal), window),
    }),
  }
}

/** Nanoseconds for all of a matrix. */
export const workCost = ({ rows, columns }: BlockLayout): number => rows * columns * 4 * byteCosts.quantize
