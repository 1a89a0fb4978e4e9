// Conversions as the command shows their plans, carries them out and reports them.
import {
  type ByteSource,
  type Conversion,
  checkLoss,
  collectGarbage,
  collectorFor,
  isRemote,
  type Plan,
  type PlanAction,
  runConversion,
  TareError,
  type Transfer,
  transferTo,
} from '../../kit-node.js'
import type { Colors, Console } from '../console/console.js'
import { escapeName, escapeText } from '../console/escape.js'
import { formatInteger, formatSize, plural } from '../console/format-values.js'
import { formatTable, nameColumn, rightColumn } from '../console/table.js'
import type { Context } from '../context.js'
import type { OptionsOf } from '../flags/flag.js'
import type { allowLoss } from '../flags/shared.js'
import type { Status } from '../status.js'
import { identityOf } from './identity.js'
import { assertNotInput, markOutputErrors, openGuarded, writingTo } from './output.js'

type AllowLoss = OptionsOf<{ allowLoss: ReturnType<typeof allowLoss> }>['allowLoss']

/** The worst loss that `--allow-loss` lets pass. */
export const maxLoss = (allowed: AllowLoss) =>
  (({ none: 'form', precision: 'precision', all: 'content' }) as const)[allowed ?? 'none']

/** What a dry run prints. A loss that is not allowed is the answer "no". */
export async function showPlan(
  { console, json }: Context,
  input: string,
  { plan, layout }: Conversion,
  allowed: AllowLoss,
  output = '-',
): Promise<Status> {
  let refused: TareError | undefined
  try {
    checkLoss(plan, maxLoss(allowed))
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    refused = error
  }
  const transfer = await transferTo(output, layout)
  if (json)
    await console.json({
      ...plan,
      file: input,
      format: plan.source.format,
      allowed: !refused,
      ...(transfer && { transfer }),
    })
  else {
    await console.print(describePlan(plan, input, console))
    if (transfer) await console.print([`  ${describeTransfer(transfer)}`])
  }
  if (refused && !json) console.complainOf(refused.finding)
  return refused ? 1 : 0
}

type RunOptions = NonNullable<Parameters<typeof runConversion>[2]>

export interface Destination {
  /** Where a file of the output goes; `-` is standard output. */
  pathOf(name: string): string
  readonly inputs: readonly ByteSource[]
  readonly overwrite: boolean | undefined
  readonly resume?: boolean | undefined
}

/** Carries out a conversion. The files have the paths that they were written to. */
export async function writeConversion(
  context: Context,
  conversion: Conversion,
  { pathOf, inputs, overwrite, resume }: Destination,
  options: Pick<RunOptions, 'allowLoss' | 'onDamage' | 'pool'>,
): Promise<{ name: string; size: number; transfer?: Transfer | undefined }[]> {
  const { console, signal } = context
  const paths = conversion.plan.files.map(({ name }) => pathOf(name))
  for (const path of paths) await assertNotInput(path, inputs)
  const identity = paths.some(isRemote) ? await identityOf(context, conversion, inputs) : undefined
  const write = () =>
    runConversion(conversion, (name) => openGuarded(pathOf(name), inputs, { overwrite, resume, identity, signal }), {
      ...options,
      signal,
      onProgress: console.progress.update,
      collectGarbage: collectorFor(conversion.source, collectGarbage),
    })
  const files = await markOutputErrors(conversion.source, () => writingTo(context, paths, write))
  return files.map(({ name, size, transfer }) => ({ name: pathOf(name), size, ...(transfer && { transfer }) }))
}

/** What the store does by itself, and what goes through this machine. */
export const describeTransfer = ({ copied, uploaded }: Transfer): string =>
  `${formatSize(copied)} copied by the store, ${formatSize(uploaded)} uploaded`

function totalTransfer(files: readonly { readonly transfer?: Transfer | undefined }[]): Transfer | undefined {
  const all = files.flatMap(({ transfer }) => transfer ?? [])
  if (all.length === 0) return undefined
  const sum = (of: (each: Transfer) => number): number => all.reduce((total, each) => total + of(each), 0)
  return { copied: sum(({ copied }) => copied), uploaded: sum(({ uploaded }) => uploaded) }
}

/** What is printed about a conversion that was carried out: JSON, with `more` in it, or a summary that ends with `about`. */
export async function reportWritten(
  { console, json }: Context,
  input: string,
  plan: Plan,
  files: readonly { readonly name: string; readonly size: number; readonly transfer?: Transfer | undefined }[],
  about: string,
  more: object = {},
): Promise<void> {
  if (json) return console.json({ ...plan, file: input, format: plan.source.format, ...more, files })
  for (const line of summarizePlan(plan, console.errorColor)) console.remark(line)
  const transfer = totalTransfer(files)
  const moved = transfer ? ` (${describeTransfer(transfer)})` : ''
  console.remark(`${escapeName(files[0]!.name)}: ${plan.target}, ${about}${moved}`)
}

/** The whole plan: a row for everything that is not simply copied, and the resulting files. */
function* describePlan(plan: Plan, input: string, console: Console): Generator<string> {
  const { color } = console
  yield `${color.bold(escapeName(input))}: ${plan.source.format} → ${plan.target}, ${formatSize(plan.size)}, unrequested loss: ${paintLoss(plan.unrequestedLoss, color)}`
  const changes = plan.actions.filter(isWorthARow)
  const rows = changes.map((action) => [
    action.subject,
    escapeName(action.name),
    action.action,
    detailOf(action),
    action.loss,
    escapeText(action.reason ?? (action.requested ? 'requested' : '')),
  ])
  const columns = [
    { title: 'what', paint: color.dim },
    nameColumn,
    { title: 'action' },
    { title: 'change', cut: 'middle' as const },
    { title: 'loss', paint: (text: string) => paintLoss(text.trimEnd(), color) },
    { title: 'reason', paint: color.dim, cut: 'end' as const, spare: 1 },
  ]
  yield* formatTable(columns, rows.slice(0, console.maxRows), console.look)
  if (rows.length > console.maxRows) yield `  … and ${formatInteger(rows.length - console.maxRows)} more`
  yield `  ${plural(plan.actions.length - changes.length, 'item')} copied unchanged`
  for (const note of plan.notes) yield `  note: ${escapeText(note)}`
  yield `  peak memory about ${formatSize(plan.peakMemory)} on top of the program itself`
  yield 'files'
  yield* formatTable(
    [{ title: 'name' }, rightColumn('size'), rightColumn('bytes')],
    plan.files.map(({ name, size }) => [escapeName(name), formatSize(size), formatInteger(size)]),
  )
}

/** What was done, one line per kind of change: `cast 12 tensors f32 → f16 (precision)`. */
function* summarizePlan(plan: Plan, color: Colors): Generator<string> {
  const groups = new Map<string, { first: PlanAction; count: number }>()
  for (const action of plan.actions) {
    if (!isWorthARow(action) || action.action === 'recompute') continue
    const detail = isGrouped(action) ? detailOf(action) : ''
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
    const detail = count === 1 || isGrouped(first) ? detailOf(first) : ''
    const loss = first.loss === 'none' ? '' : ` (loss of ${paintLoss(first.loss, color)})`
    const reason = first.reason === undefined ? '' : color.dim(`: ${escapeText(first.reason)}`)
    yield `  ${[first.action, what, detail].filter((part) => part !== '').join(' ')}${loss}${reason}`
  }
  for (const note of plan.notes) yield `  note: ${escapeText(note)}`
}

/** What is copied is only counted, unless there is something to say about it. */
const isWorthARow = ({ action, reason }: PlanAction): boolean => action !== 'copy' || reason !== undefined

/** Changes that share a line with all others from and to the same types. */
const isGrouped = ({ action }: PlanAction): boolean => ['cast', 'reorder', 'quantize', 'dequantize'].includes(action)

/** The value that an entry is set to: text in quotes, anything else with its type. */
export const shownValue = (value: string, type: string | undefined): string =>
  type === undefined ? escapeText(JSON.stringify(value)) : `${escapeText(value)} (${type})`

function detailOf({ from, to, action, type }: PlanAction): string {
  if (action === 'set') return to === undefined ? '' : `= ${shownValue(to, type)}`
  return from === undefined && to === undefined ? '' : `${escapeName(from ?? '')} → ${escapeName(to ?? '')}`.trim()
}

function paintLoss(loss: string, color: Colors): string {
  return loss === 'content' ? color.red(loss) : loss === 'precision' ? color.yellow(loss) : loss
}
