import { basename } from 'node:path'
import type { InspectedTensor, Inspection, JsonValue, Model, ModelSummary, Tensor } from '../../../kit-node.js'
import { integerCell, offsetCell, sizeCell, valueCell } from '../../console/cells.js'
import type { Console } from '../../console/console.js'
import { type DataTable, dataTable, wantsRecords } from '../../console/data-table.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatEntry } from '../../console/format-entry.js'
import { formatInteger, formatShape, formatSize, plural } from '../../console/format-values.js'
import { type Cell, type Row as Cells, type Column, formatTable, nameColumn, rightColumn } from '../../console/table.js'
import { shorten, wrapWords } from '../../console/width.js'
import type { Measured } from '../../input/measure-tensors.js'
import type { Tensors } from '../../input/tensors.js'
import { collapseLayers, type Repeated } from './collapse.js'
import { headRows } from './head.js'
import type { InspectOptions } from './index.js'
import { treeRows } from './tree.js'

export interface Row extends InspectedTensor {
  readonly stats?: Measured['stats']
}

/** Everything about the model but its tensors. */
export interface Head extends Omit<Inspection, 'tensors'> {
  readonly summary: ModelSummary
}

export function* describeModel(
  model: Model,
  head: Head,
  tensors: Tensors,
  rowOf: (tensor: Tensor, i: number) => Row,
  options: InspectOptions,
  console: Console,
): Generator<string> {
  const { color } = console
  const entries = metadataRows(head)
  if (options.metadata && wantsRecords(console)) {
    yield* dataTable({ columns: entryColumns(color.dim), rows: entries }, console, head.file)
    return
  }
  if (!wantsRecords(console)) {
    yield color.bold(escapeName(head.file))
    const columns: Column[] = [{ title: '', paint: color.dim }, { title: '' }]
    yield* formatTable(columns, wrapped(headRows(model, head, head.summary), console.look.width))
    yield* section('metadata', entries, options, console)
    if (options.metadata) return
    yield* section('parts', head.parts.filter((part) => !isStowage(part)).map(partRow), options, console)
    if (tensors.length === 0) return
    yield color.bold('tensors')
  }
  const { columns, rows } = options.tree
    ? { columns: treeColumns, rows: treeRows(tensors, rowOf) }
    : tensorTable(model, tensors, rowOf, options, console)
  const count = 'row' in rows ? rows.count : rows.length
  const limit = Math.min(count, options.limit ?? (options.all ? count : console.maxRows))
  const shown = 'row' in rows ? { ...rows, count: limit } : rows.slice(0, limit)
  yield* dataTable({ columns, rows: shown }, console, head.file)
  if (count > limit && !wantsRecords(console))
    yield color.dim(`  … and ${formatInteger(count - limit)} more (--all shows them)`)
}

const labelWidth = 'tensors'.length

/** Long lines go on below their beginning. */
function wrapped(rows: readonly (readonly [label: string, text: string])[], width: number | undefined): string[][] {
  if (width === undefined) return rows.map((row) => [...row])
  return rows.flatMap(([label, text]) =>
    wrapWords(text, width - labelWidth - 4).map((line, i) => [i === 0 ? label : '', line]),
  )
}

/** The values of long entries are for programs. */
const maxValue = 400

const entryColumns = (dim: Column['paint']): Column[] => [
  { title: 'key', cut: 'middle' },
  { title: 'type', paint: dim },
  { title: 'value', cut: 'end' },
]

function* section(
  title: string,
  rows: readonly string[][],
  { all }: InspectOptions,
  console: Console,
): Generator<string> {
  if (rows.length === 0) return
  const { color, look } = console
  const limit = all ? rows.length : console.maxRows
  yield color.bold(title)
  yield* formatTable(entryColumns(color.dim), rows.slice(0, limit), { width: look.width })
  if (rows.length > limit) yield color.dim(`  … and ${formatInteger(rows.length - limit)} more (--all shows them)`)
}

/** The entries in which a container carries what it has no place for; it may take several. */
const stowageForm = /^tare\.stowage(\.\d+)?$/

const isStowage = (part: JsonValue): boolean => (part as { kind: string }).kind === 'stowage'

/** What the container carries for another format is said in one line. */
function metadataRows({ metadata, parts }: Head): string[][] {
  const stowage = parts.find(isStowage) as { readonly value: Stowage } | undefined
  return Object.entries(metadata).flatMap(([key, entry], i, all) => {
    const [type, value] = formatEntry(entry)
    if (!stowage || !stowageForm.test(key)) return [[escapeName(key), type, shorten(escapeText(value), maxValue)]]
    const isFirst = all.findIndex(([other]) => stowageForm.test(other)) === i
    return isFirst ? [[escapeName(key), type, describeStowage(stowage.value)]] : []
  })
}

interface Stowage {
  readonly from: string
  readonly counts: Readonly<Record<'metadata' | 'parts' | 'tensors', number>>
}

function describeStowage({ from, counts: { metadata, parts, tensors } }: Stowage): string {
  const counts = [
    metadata > 0 && `${formatInteger(metadata)} metadata ${metadata === 1 ? 'entry' : 'entries'}`,
    parts > 0 && plural(parts, 'part'),
    tensors > 0 && `facts about ${plural(tensors, 'tensor')}`,
  ].filter(Boolean)
  const what = counts.length === 0 ? 'where it came from' : counts.join(', ')
  return `carried for ${escapeText(from)}: ${what}`
}

function partRow(part: JsonValue): string[] {
  const { kind, name, value, bytes } = part as { kind: string; name?: string; value: JsonValue; bytes?: number }
  const label = name === undefined || name === kind ? kind : `${kind} ${name}`
  const size = bytes === undefined ? '' : formatSize(bytes)
  return [escapeName(label), size, describeValue(value, bytes)]
}

/** A value that says no more than the size is left out. */
function describeValue(value: JsonValue, bytes: number | undefined): string {
  const isSize = typeof value === 'object' && value !== null && JSON.stringify(value) === JSON.stringify({ bytes })
  return isSize ? '' : shorten(escapeText(JSON.stringify(value)), maxValue)
}

/** Layers of the same form share a row, unless something was asked about single tensors. */
function tensorTable(
  { files }: Model,
  tensors: Tensors,
  rowOf: (tensor: Tensor, i: number) => Row,
  { tensors: patterns, sort, stats, all }: InspectOptions,
  console: Console,
): DataTable {
  const isList = all || stats || patterns !== undefined || sort !== undefined || wantsRecords(console)
  const groups = isList || tensors.length > maxCollapsed ? undefined : collapseLayers(tensors, kindOf)
  const isCollapsed = groups?.some(({ members }) => members.length > 1)
  const main = files[0]?.name
  const has = {
    count: isCollapsed === true,
    stats: stats === true,
    offset: wantsRecords(console) || tensors.some(({ data }) => data?.origin),
    note: wantsRecords(console) || tensors.some((tensor) => isNotable(tensor, main)),
  }
  const rows = isCollapsed
    ? { count: groups!.length, row: (i: number) => groupRow(groups![i]!, rowOf, has) }
    : { count: tensors.length, row: (i: number) => tensorRow(rowOf(tensors.at(i)!, i), has) }
  return { columns: tensorColumns(has), rows }
}

/** No model has more; looking for layers in the names of a million tensors takes seconds. */
const maxCollapsed = 100_000

/** Tensors share a row only if all but their place is the same. */
const kindOf = ({ dtype, encoding, shape, order, role, data }: Tensor): string =>
  [dtype.id, encoding?.id, shape.join(), order, role, data?.byteLength].join(' ')

type Shown = Readonly<Record<'count' | 'stats' | 'offset' | 'note', boolean>>

const tensorColumns = ({ count, stats, offset, note }: Shown): Column[] => [
  nameColumn,
  ...(count ? [rightColumn('count')] : []),
  { title: 'type' },
  { title: 'shape' },
  { ...rightColumn('size'), spare: 1 },
  ...(offset ? [{ ...rightColumn('offset'), spare: 2 }] : []),
  ...(stats ? ['min', 'max', 'mean', 'std'].map(rightColumn) : []),
  ...(note ? [{ title: 'note', cut: 'end' as const, spare: 1 }] : []),
]

function tensorRow(row: Row, has: Shown): Cell[] {
  const stats = row.stats?.reason === undefined ? row.stats : undefined
  return [
    escapeName(row.name),
    ...(has.count ? [''] : []),
    typeOf(row),
    formatShape(row.shape),
    row.bytes === null ? 'no data' : sizeCell(row.bytes),
    ...(has.offset ? [row.offset === null ? '' : offsetCell(row.offset)] : []),
    ...(has.stats ? [stats?.min, stats?.max, stats?.mean, stats?.std].map(valueCell) : []),
    ...(has.note ? [noteOn(row)] : []),
  ]
}

/** The size is that of all of them; there is no place that is theirs. */
function groupRow(group: Repeated<Tensor>, rowOf: (tensor: Tensor, i: number) => Row, has: Shown): Cells {
  const [first] = group.members
  const row = rowOf(first!, 0)
  if (group.members.length === 1) return tensorRow(row, has)
  const bytes = row.bytes === null ? null : row.bytes * group.members.length
  const [, , ...rest] = tensorRow({ ...row, bytes, offset: null }, has)
  return [escapeName(group.name), integerCell(group.members.length), ...rest]
}

const isNotable = ({ order, role, data, extra }: Tensor, main: string | undefined): boolean =>
  order === 'column' ||
  role !== 'weight' ||
  (data?.origin !== undefined && data.origin.source.name !== main) ||
  ownType(extra) !== false

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
  nameColumn,
  { title: 'type' },
  { title: 'shape', spare: 1 },
  rightColumn('parameters'),
  { ...rightColumn('size'), spare: 1 },
]
