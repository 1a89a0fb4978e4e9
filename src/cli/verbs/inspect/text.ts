import { basename } from 'node:path'
import {
  countElements,
  type InspectedTensor,
  type Inspection,
  type JsonValue,
  type Model,
  type Tensor,
} from '../../../kit-node.js'
import type { Console } from '../../console/console.js'
import { escapeName, escapeText } from '../../console/escape.js'
import {
  formatAmount,
  formatBytes,
  formatEntry,
  formatInteger,
  formatOffset,
  formatShape,
  formatSize,
  formatValue,
  plural,
} from '../../console/format-values.js'
import { type Column, formatTable, rightColumn, shorten } from '../../console/table.js'
import type { Measured } from '../../input/measure-tensors.js'
import type { Tensors } from '../../input/tensors.js'
import type { InspectOptions } from './index.js'
import { treeRows } from './tree.js'

export interface Row extends InspectedTensor {
  readonly stats?: Measured['stats']
}

export function* describeModel(
  model: Model,
  inspection: Omit<Inspection, 'tensors'>,
  tensors: Tensors,
  rowOf: (tensor: Tensor, i: number) => Row,
  options: InspectOptions,
  console: Console,
): Generator<string> {
  const { color } = console
  const limit = options.limit ?? console.maxRows
  yield color.bold(escapeName(inspection.file))
  yield* formatTable([{ title: '', paint: color.dim }, { title: '' }], headRows(model, inspection))
  yield* section('metadata', Object.entries(inspection.metadata).map(metadataRow(valueWidth(console))), limit, console)
  if (options.metadata) return
  yield* section('parts', inspection.parts.map(partRow(valueWidth(console))), limit, console)
  if (tensors.length === 0) return
  yield color.bold('tensors')
  const tree = options.tree ? treeRows(tensors.map(rowOf)) : undefined
  const count = tree?.length ?? tensors.length
  const cells = tree?.slice(0, limit) ?? {
    count: Math.min(tensors.length, limit),
    row: (i: number) => tensorRow(rowOf(tensors.at(i)!, i), options.stats),
  }
  yield* formatTable(tree ? treeColumns : tensorColumns(options), cells, { head: color.underline })
  if (count > limit) yield color.dim(`  … and ${formatInteger(count - limit)} more (--limit)`)
}

const valueWidth = (console: Console): number => (console.isTerminal ? Math.max(30, console.width - 50) : 400)

function headRows(model: Model, { format, version, variant, size }: Omit<Inspection, 'tensors'>): string[][] {
  const { tensors, types } = summarise(model)
  const rows = [
    ['format', [format, version && escapeText(version), variant && escapeText(variant)].filter(Boolean).join(' ')],
    ['size', `${formatBytes(size)}${model.files.length > 1 ? ` in ${plural(model.files.length, 'file')}` : ''}`],
    ['tensors', tensors],
  ]
  if (model.tensors.length > 0) rows.push(['types', types])
  return rows
}

interface Summary {
  readonly tensors: string
  readonly types: string
}

/** `4 with 3.12 M parameters`, and `f16 226 (12.4 GiB) · f32 65 (1.02 MiB)`, sorted by bytes. */
function summarise({ tensors }: Model): Summary {
  const sums = new Map<string, { count: number; bytes: number }>()
  let parameters = 0
  let states = 0
  for (const { role, shape, dtype, encoding, data } of tensors) {
    if (role === 'weight') parameters += countElements(shape) ?? 0
    else states++
    const { id } = encoding ?? dtype
    const sum = sums.get(id) ?? { count: 0, bytes: 0 }
    sums.set(id, { count: sum.count + 1, bytes: sum.bytes + (data?.byteLength ?? 0) })
  }
  const sorted = [...sums].sort(([, a], [, b]) => b.bytes - a.bytes)
  return {
    tensors: `${formatInteger(tensors.length)} with ${formatAmount(parameters)} parameters${states > 0 ? `, ${plural(states, 'optimizer state')}` : ''}`,
    types: sorted.map(([id, { count, bytes }]) => `${id} ${formatInteger(count)} (${formatSize(bytes)})`).join(' · '),
  }
}

function* section(title: string, rows: readonly string[][], limit: number, { color }: Console): Generator<string> {
  if (rows.length === 0) return
  yield color.bold(title)
  yield* formatTable([{ title: '' }, { title: '', paint: color.dim }, { title: '' }], rows.slice(0, limit))
  if (rows.length > limit) yield color.dim(`  … and ${formatInteger(rows.length - limit)} more`)
}

function metadataRow(width: number) {
  return ([key, entry]: [string, JsonValue]): string[] => {
    const [type, value] = formatEntry(entry)
    return [escapeName(key), type, shorten(escapeText(value), width)]
  }
}

function partRow(width: number) {
  return (part: JsonValue): string[] => {
    const { kind, name, value, bytes } = part as { kind: string; name?: string; value: JsonValue; bytes?: number }
    const label = name === undefined || name === kind ? kind : `${kind} ${name}`
    return [
      escapeName(label),
      bytes === undefined ? '' : formatSize(bytes),
      shorten(escapeText(JSON.stringify(value)), width),
    ]
  }
}

function tensorColumns({ stats }: InspectOptions): Column[] {
  return [
    { title: 'name' },
    { title: 'type' },
    { title: 'shape' },
    rightColumn('size'),
    rightColumn('offset'),
    ...(stats ? ['min', 'max', 'mean', 'std'].map(rightColumn) : []),
    { title: 'note' },
  ]
}

function tensorRow(row: Row, withStats: boolean | undefined): string[] {
  const stats = row.stats?.reason === undefined ? row.stats : undefined
  return [
    escapeName(row.name),
    typeOf(row),
    formatShape(row.shape),
    row.bytes === null ? 'no data' : formatSize(row.bytes),
    row.offset === null ? '' : formatOffset(row.offset),
    ...(withStats ? [stats?.min, stats?.max, stats?.mean, stats?.std].map(formatValue) : []),
    noteOn(row),
  ]
}

function noteOn({ order, role, file, extra }: Row): string {
  if (order === 'row' && role === undefined && file === undefined && extra === undefined) return ''
  const notes = [order === 'column' && 'column-major', role, file && escapeName(basename(file)), ownType(extra)]
  return notes.filter(Boolean).join(', ')
}

/** The format's own name for a type of elements that we do not have. */
const ownType = (extra: Row['extra']): string | false =>
  typeof extra === 'object' &&
  extra !== null &&
  'descr' in extra &&
  typeof extra.descr === 'string' &&
  escapeText(extra.descr)

const typeOf = ({ dtype, encoding }: Pick<Row, 'dtype' | 'encoding'>): string =>
  encoding === undefined ? dtype : `${dtype}:${encoding}`

const treeColumns: readonly Column[] = [
  { title: 'name' },
  { title: 'type' },
  { title: 'shape' },
  rightColumn('parameters'),
  rightColumn('size'),
]
