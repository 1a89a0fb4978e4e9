// The result of a comparison as text: what is equal is counted in the first line, and only the rest is listed.
import {
  type Difference,
  type DifferenceCounts,
  type JsonValue,
  type MetadataDifference,
  type Model,
  type PartDifference,
  type TensorDifference,
  type TensorSide,
  totalSize,
} from '../../../kit-node.js'
import type { Console } from '../../console/console.js'
import { chooseColumns } from '../../console/data-table.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatEntry } from '../../console/format-entry.js'
import { formatInteger, formatShape, formatSize, formatValue, plural } from '../../console/format-values.js'
import { type Column, formatTable, nameColumn, rightColumn } from '../../console/table.js'
import { shorten } from '../../console/width.js'

/** One name per line: that of the first model or, for what only the second has, that of the second. */
export function* listNames({ tensors }: Difference): Generator<string> {
  for (const { name, close } of tensors) if (!close) yield escapeName(name)
}

export function* describeDifference(
  difference: Difference,
  models: readonly [Model, Model],
  console: Console,
  limit = console.maxRows,
): Generator<string> {
  const { color } = console
  const verdict = difference.equal ? color.green('equal') : color.red('different')
  yield `${verdict} — ${summarize(difference.summary)}`
  const heads = [difference, difference.other].map(({ file, format, variant }, i) => {
    const model = models[i]!
    const kind = `${format}${variant === undefined ? '' : ` (${escapeText(variant)})`}`
    const facts = [kind, plural(model.tensors.length, 'tensor'), formatSize(totalSize(model))].join(', ')
    return [i === 0 ? 'A' : 'B', escapeName(file), facts]
  })
  const headColumns: Column[] = [
    { title: '', paint: color.bold },
    { title: '', cut: 'middle' },
    { title: '', paint: color.dim },
  ]
  yield* formatTable(headColumns, heads, { width: console.look.width })
  const { tensors } = difference
  const are = (...changes: TensorDifference['change'][]) => tensors.filter(({ change }) => changes.includes(change))
  const sections: [title: string, columns: readonly Column[], rows: string[][]][] = [
    ['only in A', formColumns, are('missing').map(({ a }) => formRow(a!))],
    ['only in B', formColumns, are('extra').map(({ b }) => formRow(b!))],
    ['different shapes', shapeColumns, are('shape').map(shapeRow)],
    ['values and types', valueColumns, are('data', 'values', 'type', 'bytes').map(valueRow)],
    ['renamed', renameColumns, are('renamed').map(renameRow)],
    ['metadata', entryColumns, difference.metadata.map(metadataRow)],
    ['parts', entryColumns, difference.parts.map(partRow)],
  ]
  const known = [...formColumns, ...shapeColumns, ...valueColumns, ...renameColumns, ...entryColumns]
  for (const [title, columns, rows] of sections) {
    if (rows.length === 0) continue
    yield color.bold(title)
    const hasNotes = rows.some((row) => row.at(-1) !== '')
    const table = { columns: hasNotes ? columns : columns.slice(0, -1), rows: rows.slice(0, limit) }
    const chosen = chooseColumns(table, console.tables.columns, known)
    yield* formatTable(chosen.columns, chosen.rows, console.look)
    if (rows.length > limit) yield color.dim(`  … and ${formatInteger(rows.length - limit)} more (--limit)`)
  }
}

/** `tensors: 297 equal, 3 differ, 1 only in A; metadata: 4 equal; parts: 1 differs` */
function summarize({ tensors, metadata, parts }: Difference['summary']): string {
  const groups = Object.entries({ tensors, metadata, parts }).flatMap(([what, counts]) => {
    const text = counts && listCounts(counts)
    return text ? [`${what}: ${text}`] : []
  })
  return groups.length === 0 ? 'both are empty' : groups.join('; ')
}

function listCounts(counts: Partial<DifferenceCounts>): string {
  const { equal = 0, changed = 0, close = 0, missing = 0, extra = 0, renamed = 0 } = counts
  const pieces: [count: number, words: string][] = [
    [equal, 'equal'],
    [changed, changed === 1 ? 'differs' : 'differ'],
    [close, 'within the tolerance'],
    [missing, 'only in A'],
    [extra, 'only in B'],
    [renamed, 'renamed'],
  ]
  return pieces.flatMap(([count, words]) => (count > 0 ? [`${formatInteger(count)} ${words}`] : [])).join(', ')
}

const formColumns: readonly Column[] = [nameColumn, { title: 'type' }, { title: 'shape' }, rightColumn('size')]

const formRow = (side: TensorSide): string[] => [
  escapeName(side.name),
  typeOf(side),
  formatShape(side.shape),
  side.bytes === null ? 'no data' : formatSize(side.bytes),
]

const typeOf = ({ dtype, quant }: TensorSide): string => (quant === undefined ? dtype : `${dtype} with scales`)

/** What both sides share is printed once. */
const change = (a: string, b: string): string => (a === b ? a : `${a} → ${b}`)

const shapeColumns: readonly Column[] = [nameColumn, { title: 'type' }, { title: 'A' }, { title: 'B' }]

const shapeRow = ({ name, a, b }: TensorDifference): string[] => [
  escapeName(name),
  change(typeOf(a!), typeOf(b!)),
  formatShape(a!.shape),
  formatShape(b!.shape),
]

const valueColumns: readonly Column[] = [
  nameColumn,
  { title: 'type' },
  { ...rightColumn('differing'), spare: 2 },
  { ...rightColumn('first'), spare: 5 },
  rightColumn('max abs'),
  { ...rightColumn('max rel'), spare: 3 },
  rightColumn('rmse'),
  { ...rightColumn('SNR dB'), spare: 1 },
  { ...rightColumn('cosine'), spare: 4 },
  { title: 'note', cut: 'end' },
]

function valueRow(row: TensorDifference): string[] {
  const { values, a, b } = row
  const head = [escapeName(row.name), change(typeOf(a!), typeOf(b!))]
  if (!values) return [...head, ...Array<string>(7).fill('-'), noteOf(row)]
  const { differing, count, firstAt, maxAbs, maxRel, rmse, snr, cosine } = values
  return [
    ...head,
    `${formatInteger(differing)} of ${formatInteger(count)}`,
    firstAt ? formatShape(firstAt) : '-',
    ...[maxAbs, maxRel, rmse].map(formatValue),
    snr === null ? '-' : snr.toFixed(2),
    cosine === null ? '-' : formatCosine(cosine),
    noteOf(row),
  ]
}

/** Close to 1 the difference says more than a row of nines. */
const formatCosine = (cosine: number): string =>
  cosine < 1 && cosine > 0.999999 ? `1 - ${(1 - cosine).toExponential(1)}` : cosine.toFixed(6)

function noteOf(row: TensorDifference): string {
  const { values, reason, close } = row
  const notes: (string | false | undefined)[] = [
    row.change === 'data' && `only ${row.a?.bytes === null ? 'B' : 'A'} has data`,
    values?.differing === 0 && (row.change === 'bytes' ? 'other bytes, equal values' : 'equal values'),
    values && values.nonFinite > 0 && `${formatInteger(values.nonFinite)} NaN or infinite on one side`,
    reason !== undefined && escapeText(reason),
    close && 'within the tolerance',
  ]
  return notes.filter(Boolean).join(', ')
}

const renameColumns: readonly Column[] = [
  { title: 'A', cut: 'middle' },
  { title: 'B', cut: 'middle' },
  { title: 'type', spare: 2 },
  { title: 'shape', spare: 1 },
]

const renameRow = ({ a, b }: TensorDifference): string[] => [
  escapeName(a!.name),
  escapeName(b!.name),
  typeOf(a!),
  formatShape(a!.shape),
]

const entryColumns: readonly Column[] = [
  nameColumn,
  { title: 'A', cut: 'end' },
  { title: 'B', cut: 'end' },
  { title: 'note' },
]

const maxValue = 200

const metadataRow = (entry: MetadataDifference): string[] => [
  escapeName(entry.key),
  typedValue(entry.a),
  typedValue(entry.b),
  [entry.first !== undefined && `from item ${formatInteger(entry.first)} on`, entry.close && 'within the tolerance']
    .filter(Boolean)
    .join(', '),
]

/** `u32 8`, `str "pt"`, `str[3] ["a", "b", "c"]` */
function typedValue(entry: JsonValue | undefined): string {
  if (entry === undefined) return '-'
  const [type, value] = formatEntry(entry)
  return shorten(`${type} ${escapeText(value)}`, maxValue)
}

const showPart = (value: JsonValue | undefined): string =>
  value === undefined ? '-' : shorten(escapeText(JSON.stringify(value)), maxValue)

function partRow(part: PartDifference): string[] {
  const label = part.name === undefined ? part.kind : `${part.kind} ${part.name}`
  const unit = part.change === 'bytes' ? 'byte' : 'token'
  const first = part.first === undefined ? undefined : `from ${unit} ${formatInteger(part.first)} on`
  const what = part.change === 'bytes' ? 'other bytes' : undefined
  const notes = [what, first, part.reason].filter(Boolean).join(', ')
  return [escapeName(label), showPart(part.a), showPart(part.b), notes]
}
