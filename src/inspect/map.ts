// Accounts for every byte of a file. The parser records the extents it reads; here they are sorted, unclaimed bytes become gaps, and bytes
// claimed twice are listed separately, so that the lengths always add up to the file's size.
import type { ByteSource } from '../bytes/index.js'
import { type Extent, ExtentList } from '../bytes/index.js'
import { collectingReport, type Finding, TareError } from '../errors/index.js'
import { type OpenOptions, recognise } from '../formats/index.js'
import { closeModel } from '../model/index.js'

export interface MapRow {
  readonly offset: number
  readonly length: number
  readonly path: string
  readonly kind: 'field' | 'data' | 'padding' | 'gap'
  readonly value?: string | number | bigint | boolean | undefined
}

export interface MappedFile {
  readonly file: string
  readonly size: number
  /** In order of offset; the lengths add up to the size. */
  readonly extents: readonly MapRow[]
  /** Extents over bytes that are already listed: shared payloads, or damage. */
  readonly overlaps: readonly MapRow[]
}

export interface MapResult {
  readonly file: string
  readonly format: string | null
  readonly files: readonly MappedFile[]
  /** Problems that the parser found. If it stopped, the map ends in a gap. */
  readonly findings: readonly Finding[]
}

export async function mapSource(source: ByteSource, options: OpenOptions = {}): Promise<MapResult> {
  const list = new ExtentList()
  const findings: Finding[] = []
  const report = collectingReport(source.name, findings)
  const sizes = new Map([[source.name, source.size]])
  let format: string | null = null
  try {
    const recognised = await recognise(source, { ...options, report, extents: list })
    format = recognised.format.id
    const { model } = await recognised.read()
    for (const file of model.files) sizes.set(file.name, file.size)
    await closeModel(model)
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    if (!findings.includes(error.finding)) findings.push(error.finding)
  }
  const files = [...sizes].map(([file, size]) =>
    mapFile(
      file,
      size,
      list.extents.filter((extent) => extent.file === file),
    ),
  )
  return { file: source.name, format, files, findings }
}

function mapFile(file: string, size: number, extents: readonly Extent[]): MappedFile {
  const rows: MapRow[] = []
  const overlaps: MapRow[] = []
  let at = 0
  for (const extent of extents.toSorted((a, b) => a.offset - b.offset || a.length - b.length)) {
    const { offset, length, path, kind, value } = extent
    if (length === 0) continue
    if (offset < at) {
      const shared = Math.min(at, offset + length) - offset
      overlaps.push({ offset, length: shared, path, kind })
      const rest = offset + length - at
      if (rest > 0) rows.push({ offset: at, length: rest, path, kind })
      at = Math.max(at, offset + length)
      continue
    }
    if (offset > at) rows.push({ offset: at, length: offset - at, path: '', kind: 'gap' })
    rows.push({ offset, length, path, kind, value })
    at = offset + length
  }
  if (at < size) rows.push({ offset: at, length: size - at, path: '', kind: 'gap' })
  return { file, size, extents: rows, overlaps }
}

/** Merges neighbours whose paths agree in the first `depth` segments. */
export function groupExtents(rows: readonly MapRow[], depth: number): MapRow[] {
  const grouped: MapRow[] = []
  for (const row of rows) {
    const path = cutPath(row.path, depth)
    const last = grouped.at(-1)
    if (last && last.path === path && last.kind === row.kind && row.kind !== 'gap') {
      grouped[grouped.length - 1] = { offset: last.offset, length: last.length + row.length, path, kind: row.kind }
    } else grouped.push(path === row.path ? row : { ...row, path, value: undefined })
  }
  return grouped
}

/** `tensors[3].dims[0]` at depth 2 is `tensors[3]`. */
export function cutPath(path: string, depth: number): string {
  const segments = path.match(/\["(?:[^"\\]|\\.)*"\]|\[[0-9]+\]|\.?[^.[]+/g) ?? []
  return segments.slice(0, depth).join('')
}
