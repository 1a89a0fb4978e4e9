// Accounts for every byte of a file. The parser records the extents it reads; here they are sorted, unclaimed bytes become gaps, and bytes
// claimed twice are listed separately, so that the lengths always add up to the file's size.
import type { ByteSource } from '../bytes/index.js'
import { type Extent, ExtentList, type ExtentRecorder } from '../bytes/index.js'
import { collectingReport, type Finding, failWith, TareError, usageCodes } from '../errors/index.js'
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

export interface MapOptions extends OpenOptions {
  /**
   * Only what touches these bytes of each file (the end exclusive). Nothing else is kept while the file is parsed, so a window of a large map
   * takes little memory. Rows are cut neither at the start nor at the end of the range.
   */
  readonly range?: readonly [from: number, to: number] | undefined
}

export async function mapSource(source: ByteSource, options: MapOptions = {}): Promise<MapResult> {
  const { range } = options
  if (range && !(range[0] >= 0 && range[0] <= range[1])) {
    const message = `bytes ${range[0]} to ${range[1]} were requested`
    failWith(usageCodes.option, { file: source.name, message })
  }
  const list = range ? new NearExtents(range) : new ExtentList()
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
  const files = [...sizes].map(([file, size]) => {
    const extents = list.extents.filter((extent) => extent.file === file)
    if (!range) return mapFile(file, size, extents)
    const { extents: rows, overlaps } = mapFile(file, size, [...extents, ...(list as NearExtents).endsOf(file)])
    const touches = (row: MapRow): boolean => row.offset < range[1] && row.offset + row.length > range[0]
    return { file, size, extents: rows.filter(touches), overlaps: overlaps.filter(touches) }
  })
  return { file: source.name, format, files, findings }
}

/**
 * Keeps what touches a range, and of everything else only where the nearest bytes before and after it are: gaps that reach into the range
 * begin or end there.
 */
class NearExtents implements ExtentRecorder {
  readonly extents: Extent[] = []
  readonly #range: readonly [from: number, to: number]
  readonly #ends = new Map<string, { before: number; after: number }>()

  constructor(range: readonly [from: number, to: number]) {
    this.#range = range
  }

  add(extent: Extent): void {
    const [from, to] = this.#range
    const { file, offset, length } = extent
    if (length === 0) return
    if (offset < to && offset + length > from) {
      this.extents.push(extent)
      return
    }
    let ends = this.#ends.get(file)
    if (!ends) {
      ends = { before: 0, after: Number.POSITIVE_INFINITY }
      this.#ends.set(file, ends)
    }
    if (offset + length <= from) ends.before = Math.max(ends.before, offset + length)
    else ends.after = Math.min(ends.after, offset)
  }

  /** A byte each in place of what was not kept. */
  endsOf(file: string): Extent[] {
    const { before, after } = this.#ends.get(file) ?? { before: 0, after: Number.POSITIVE_INFINITY }
    const standIn = (offset: number): Extent => ({ file, offset, length: 1, path: '', kind: 'field' })
    return [...(before > 0 ? [standIn(before - 1)] : []), ...(after < Number.POSITIVE_INFINITY ? [standIn(after)] : [])]
  }
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
