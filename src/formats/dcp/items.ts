// Where chunks and objects are stored: ranges of the .distcp files, which must be inside these and apart from each other. Each range is an
// archive of torch.save of its own; what is found in it is reported with its place in the file.
import { type ByteSource, checkedAdd, isPlainFileName, sliceSource } from '../../bytes/index.js'
import { readArchive } from '../../content/torch-save/archive.js'
import { type Details, isSystemFailure, neededSize, type Report, TareError } from '../../errors/index.js'
import type { Opened, ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import type { Item } from './metadata.js'

/** An item whose file is there and has all of it. */
export interface PlacedItem extends Item {
  readonly source: ByteSource
}

export interface PlacedItems {
  /** Those that are all there. */
  readonly items: readonly PlacedItem[]
  readonly files: readonly ByteSource[]
  /** The item of a chunk, or of an object. */
  find(name: string, at?: string): PlacedItem | undefined
  /** Whether .metadata says where it is, even if it is not there. */
  isListed(name: string, at?: string): boolean
}

export async function placeItems(
  source: ByteSource,
  items: readonly Item[],
  context: ReadContext,
): Promise<PlacedItems> {
  const { report, extents } = context
  const files = await openFiles(source, items, context)
  const byName = new Map<string, Map<string | undefined, Item | PlacedItem>>()
  const placed: PlacedItem[] = []
  for (const item of items) {
    const known = byName.get(item.name) ?? new Map<string | undefined, Item | PlacedItem>()
    byName.set(item.name, known)
    if (known.has(item.at)) {
      const message = 'it was listed before'
      report.report(codes['item-repeated'], { offset: item.offset, path: pathOf(item), message })
      continue
    }
    known.set(item.at, item)
    const file = files.get(item.file)
    if (!file || !isInside(item, file, report)) continue
    const found = { ...item, source: file }
    known.set(item.at, found)
    placed.push(found)
    extents?.add({ file: file.name, offset: item.start, length: item.length, path: pathOf(item), kind: 'data' })
  }
  reportOverlap(placed, report)
  return {
    items: placed,
    files: [...files.values()],
    find(name, at) {
      const item = byName.get(name)?.get(at)
      return item && 'source' in item ? item : undefined
    },
    isListed: (name, at) => byName.get(name)?.has(at) ?? false,
  }
}

export const pathOf = ({ name, at }: Pick<Item, 'name' | 'at'>): string =>
  `storage_data[${JSON.stringify(name)}]${at === undefined || at === '' ? '' : `[${at}]`}`

/** By the names in .metadata; those that cannot be opened are reported once. */
async function openFiles(
  source: ByteSource,
  items: readonly Item[],
  { report }: ReadContext,
): Promise<Map<string, ByteSource>> {
  const files = new Map<string, ByteSource>()
  const seen = new Set<string>()
  for (const item of items) {
    if (seen.has(item.file)) continue
    seen.add(item.file)
    const shown = JSON.stringify(item.file.slice(0, 200))
    const place = { offset: item.offset, path: pathOf(item) }
    if (!isPlainFileName(item.file)) {
      report.report(codes['item-path'], { ...place, message: `${shown} is not a file beside .metadata` })
      continue
    }
    try {
      if (!source.sibling) throw new Error('this kind of input has no files beside it')
      files.set(item.file, await source.sibling(item.file))
    } catch (error) {
      if (isSystemFailure(error)) throw error
      const why = error instanceof TareError ? error.finding.message : (error as Error).message
      report.report(codes['file-missing'], { ...place, message: `${shown} cannot be opened: ${why}` })
    }
  }
  return files
}

function isInside(item: Item, { name, size }: ByteSource, report: Report): boolean {
  const end = checkedAdd(item.start, item.length)
  if (end !== undefined && end <= size) return true
  const message = `it has ${item.length} bytes from ${item.start} on, the file has ${size}`
  const offset = Math.min(item.start, size)
  report
    .forFile(name)
    .report(codes['item-bounds'], { offset, path: pathOf(item), message, ...(end !== undefined && neededSize(end)) })
  return false
}

function reportOverlap(items: readonly PlacedItem[], report: Report): void {
  const byFile = new Map<ByteSource, PlacedItem[]>()
  for (const item of items) {
    const list = byFile.get(item.source)
    if (list) list.push(item)
    else byFile.set(item.source, [item])
  }
  for (const [file, list] of byFile) {
    let last: PlacedItem | undefined
    for (const item of list.sort((a, b) => a.start - b.start)) {
      if (last && item.start < last.start + last.length) {
        const message = `it begins inside ${pathOf(last)}, which ends at ${last.start + last.length}`
        report.forFile(file.name).report(codes['item-overlap'], { offset: item.start, path: pathOf(item), message })
      }
      if (!last || item.start + item.length > last.start + last.length) last = item
    }
  }
}

/** Reads the archive of an item. Its tensor, or its value, gets the item's name. */
export function openItem(item: PlacedItem, context: ReadContext, report: Report): Promise<Opened> {
  const slice = sliceSource(item.source, item.start, item.length)
  const own = { ...context, report: shifted(report, item), extents: undefined }
  return readArchive(slice, own, { format: 'dcp', root: item.name })
}

/** Findings about the archive of an item, as findings about the file that it is in. */
export function shifted(report: Report, item: PlacedItem): Report {
  const own = report.forFile(item.source.name)
  const placed = ({ offset, path, message, length }: Details): Details => ({
    message,
    ...(offset !== undefined && { offset: offset + item.start }),
    ...(length !== undefined && { length }),
    path: path === undefined ? pathOf(item) : `${pathOf(item)}.${path}`,
  })
  const made: Report = {
    file: own.file,
    strict: own.strict,
    report: (code, details) => own.report(code, placed(details)),
    fail: (code, details) => own.fail(code, placed(details)),
    forFile: () => made,
  }
  return made
}
