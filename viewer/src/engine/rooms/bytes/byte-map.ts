// What every byte of a file is, for the strip, the field tree and the fields beside the hex view. The map of a model of ordinary size is
// made once and kept; that of a model with very many tensors is made for the bytes in view only.
import { cutPath, type MappedFile, type MapRow, mapSource } from 'tare/kit'
import { requireInput } from '../models/opened.js'
import { openInput } from '../models/sources.js'
import { type ByteKind, byteKinds } from './byte-kinds.js'

/** A field as the page shows it. */
export interface FieldRow {
  readonly offset: number
  readonly length: number
  readonly path: string
  readonly kind: ByteKind
  readonly value?: string | undefined
}

/** A node of the field tree: a field, or fields whose paths begin alike. */
export interface FieldNode extends FieldRow {
  /** The part of the path that is its own. */
  readonly label: string
  /** How many fields are below it; 0 for a field. */
  readonly fields: number
}

/** With more tensors than this, rows are mapped for a range at a time. */
const maxKept = 200_000

const kept = new Map<number, { readonly from: object; readonly files: Promise<readonly MappedFile[]> }>()

/** All rows of all files. Undefined for a model that has too many. */
export function wholeMap(model: number, tensors: number): Promise<readonly MappedFile[]> | undefined {
  if (tensors > maxKept) return undefined
  const { from } = requireInput(model)
  const known = kept.get(model)
  if (known?.from === from) return known.files
  const files = openInput(from)
    .then((source) => mapSource(source))
    .then((result) => result.files)
  files.catch(() => kept.delete(model))
  kept.set(model, { from, files })
  return files
}

/** The rows of one file that touch a range. */
export async function rowsIn(
  model: number,
  tensors: number,
  file: number,
  range: readonly [from: number, to: number],
): Promise<readonly MapRow[]> {
  const whole = await wholeMap(model, tensors)
  if (whole) return sliceRows(whole[file]?.extents ?? [], range)
  const source = await openInput(requireInput(model).from)
  const { files } = await mapSource(source, { range })
  return files[file]?.extents ?? []
}

/** Rows are in order and leave nothing out, so the first one is found by halving. */
export function sliceRows(rows: readonly MapRow[], [from, to]: readonly [number, number]): readonly MapRow[] {
  const first = rowAt(rows, from)
  let end = first
  while (end < rows.length && rows[end]!.offset < to) end++
  return rows.slice(first, end)
}

/** The index of the row that holds a byte; the last one for a byte behind the end. */
export function rowAt(rows: readonly MapRow[], offset: number): number {
  let [low, high] = [0, Math.max(0, rows.length - 1)]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (rows[middle]!.offset + rows[middle]!.length <= offset) low = middle + 1
    else high = middle
  }
  return low
}

/** For each of `count` equal pieces of the file, the kind of most of its bytes: an index into `byteKinds`. */
export function stripOf(
  rows: Iterable<Pick<MapRow, 'offset' | 'length' | 'kind'>>,
  size: number,
  count: number,
): Uint8Array {
  const sums = new Float64Array(count * byteKinds.length)
  const step = size / count
  for (const { offset, length, kind } of rows) {
    const of = byteKinds.indexOf(kind)
    const last = Math.min(count - 1, Math.floor((offset + length - 1) / step))
    for (let i = Math.min(count - 1, Math.floor(offset / step)); i <= last; i++) {
      const inside = Math.min(offset + length, (i + 1) * step) - Math.max(offset, i * step)
      // What little there is of the index must still be seen beside gigabytes of weights.
      sums[i * byteKinds.length + of]! += Math.max(0, inside) * (kind === 'field' ? 4 : 1)
    }
  }
  return Uint8Array.from({ length: count }, (_, i) => {
    const own = sums.subarray(i * byteKinds.length, (i + 1) * byteKinds.length)
    return own.indexOf(Math.max(...own))
  })
}

/** What is directly below a path: neighbours that share the next part of their paths are one node. */
export function childrenOf(rows: readonly MapRow[], parent: string, depth: number): FieldNode[] {
  const nodes: { -readonly [K in keyof FieldNode]: FieldNode[K] }[] = []
  for (const row of rows) {
    if (parent !== '' && cutPath(row.path, depth) !== parent) continue
    const path = row.kind === 'gap' ? 'unclaimed' : cutPath(row.path, depth + 1)
    const last = nodes.at(-1)
    const isLeaf = row.kind === 'gap' || path === row.path
    if (last && last.path === path && row.kind !== 'gap') {
      last.length = row.offset + row.length - last.offset
      last.fields++
      continue
    }
    const label = path.slice(parent.length).replace(/^\./, '') || path
    nodes.push({ ...fieldRow(row), path, label, fields: isLeaf ? 0 : 1, ...(!isLeaf && { value: undefined }) })
  }
  return nodes
}

const maxValue = 120

export function fieldRow({ offset, length, path, kind, value }: MapRow): FieldRow {
  const text = value === undefined ? undefined : String(value)
  return { offset, length, path, kind, value: text && text.length > maxValue ? `${text.slice(0, maxValue)}…` : text }
}
