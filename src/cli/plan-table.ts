import type { Plan, PlanAction } from '../node.js'
import type { Console } from './console/console.js'
import { escapeName, escapeText } from './console/escape.js'
import { formatInteger, formatSize, plural } from './console/format-values.js'
import { formatTable, type Paint } from './console/table.js'

interface Colors {
  readonly red: Paint
  readonly yellow: Paint
  readonly dim: Paint
}

const rowsOnTerminal = 100

/** The whole plan: a row for everything that does not simply travel on, and the files that come of it. */
export function* describePlan(plan: Plan, input: string, console: Console): Generator<string> {
  const { color } = console
  yield `${color.bold(escapeName(input))}: ${plan.source.format} → ${plan.target}, ${formatSize(plan.size)}, loss that was not asked for: ${paintLoss(plan.loss, color)}`
  const changes = plan.actions.filter(isWorthARow)
  const rows = changes.map((action) => [
    action.subject,
    escapeName(action.name),
    action.action,
    detailOf(action),
    action.loss,
    escapeText(reasonOf(action)),
  ])
  const shown = console.isTerminal ? rows.slice(0, rowsOnTerminal) : rows
  const columns = [
    { title: 'what', paint: color.dim },
    { title: 'name' },
    { title: 'action' },
    { title: 'change' },
    { title: 'loss', paint: (text: string) => paintLoss(text.trimEnd(), color) },
    { title: 'reason', paint: color.dim },
  ]
  yield* formatTable(columns, shown, { head: color.underline })
  if (shown.length < rows.length) yield `  … and ${formatInteger(rows.length - shown.length)} more`
  yield `  ${plural(plan.actions.length - changes.length, 'thing')} copied unchanged`
  for (const note of plan.notes) yield `  note: ${escapeText(note)}`
  yield `  peak memory about ${formatSize(plan.peakMemory)}, beside the program itself`
  yield 'files'
  yield* formatTable(
    [{ title: 'name' }, { title: 'size', align: 'right' }, { title: 'bytes', align: 'right' }],
    plan.files.map(({ name, size }) => [escapeName(name), formatSize(size), formatInteger(size)]),
  )
}

/** What was done, one line per kind of change: `cast 12 tensors f32 → f16 (precision)`. */
export function* summarizePlan(plan: Plan, color: Colors): Generator<string> {
  const groups = new Map<string, { first: PlanAction; count: number }>()
  for (const action of plan.actions) {
    if (!isWorthARow(action) || action.action === 'recompute') continue
    const detail = isAlike(action) ? detailOf(action) : ''
    const key = JSON.stringify([action.subject, action.action, detail, action.loss, action.reason])
    const group = groups.get(key)
    if (group) group.count++
    else groups.set(key, { first: action, count: 1 })
  }
  for (const { first, count } of groups.values()) {
    const what =
      count === 1
        ? `${first.subject} ${escapeName(first.name)}`
        : `${formatInteger(count)} ${first.subject === 'metadata' ? 'metadata entries' : `${first.subject}s`}`
    const detail = count === 1 || isAlike(first) ? detailOf(first) : ''
    const loss = first.loss === 'none' ? '' : ` (loss of ${paintLoss(first.loss, color)})`
    const reason = first.reason === undefined ? '' : color.dim(`: ${escapeText(first.reason)}`)
    yield `  ${[first.action, what, detail].filter((part) => part !== '').join(' ')}${loss}${reason}`
  }
  for (const note of plan.notes) yield `  note: ${escapeText(note)}`
}

/** What merely travels on is counted, unless there is something to say about it. */
const isWorthARow = ({ action, reason }: PlanAction): boolean => action !== 'copy' || reason !== undefined

/** Changes of many tensors that are told in one line when they are from and to the same. */
const isAlike = ({ action }: PlanAction): boolean => ['cast', 'reorder', 'quantize', 'dequantize'].includes(action)

function detailOf({ from, to, action }: PlanAction): string {
  if (action === 'set') return to === undefined ? '' : `= ${escapeText(JSON.stringify(to))}`
  return from === undefined && to === undefined ? '' : `${escapeName(from ?? '')} → ${escapeName(to ?? '')}`.trim()
}

const reasonOf = ({ reason, requested }: PlanAction): string => reason ?? (requested ? 'as asked' : '')

function paintLoss(loss: string, color: Colors): string {
  return loss === 'content' ? color.red(loss) : loss === 'precision' ? color.yellow(loss) : loss
}
