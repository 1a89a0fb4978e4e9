// What the Convert screen asks: the plan as `--dry-run` shows it, and the conversion itself into files that the page chose or that the
// browser keeps for the page.
import {
  type Conversion,
  type ConvertOptions,
  extractTensor,
  type FileLayout,
  type FormatId,
  formats,
  isTareError,
  isWritable,
  type Loss,
  type Model,
  npyLayout,
  type Plan,
  type PlanAction,
  planConversion,
  runConversion,
  writeLayout,
} from 'tare/kit'
import type { Call } from '../calls.js'
import type { CallContext, Handlers } from '../serve.js'
import { requireOpened } from './models/opened.js'
import { type Kept, keptSinks, removeKept, sinkOf } from './models/sinks.js'

/** What the page can ask of a conversion. */
export interface ConvertSettings {
  readonly to: string
  readonly name: string
  readonly cast?: string | undefined
  readonly quantize?: string | undefined
  readonly rules?: readonly (readonly [glob: string, method: string])[] | undefined
  readonly requantize?: boolean | undefined
  readonly dequantize?: boolean | undefined
  readonly only?: readonly string[] | undefined
}

export interface ActionCount {
  readonly action: string
  readonly subject: PlanAction['subject']
  readonly loss: Loss
  readonly count: number
  readonly isRequested: boolean
  /** The first few. */
  readonly examples: readonly Pick<PlanAction, 'name' | 'reason' | 'from' | 'to'>[]
}

/** A plan of a million actions, added up. */
export interface PlanSummary extends Omit<Plan, 'actions'> {
  /** The worst first. */
  readonly actions: readonly ActionCount[]
}

export interface Target {
  readonly id: string
  readonly title: string
  readonly extension: string
}

interface Ask {
  readonly model: number
  readonly settings: ConvertSettings
}

export interface ConvertCalls {
  convertTargets: Call<Record<string, never>, readonly Target[]>
  convertPlan: Call<Ask, PlanSummary>
  /** Into the file that the user chose; without one, into the browser's own storage, from where the page downloads it. */
  convertRun: Call<
    Ask & { readonly allowLoss: Loss; readonly file?: FileSystemFileHandle | undefined },
    readonly Kept[]
  >
  /** One tensor as NumPy reads it. */
  convertTensor: Call<
    { readonly model: number; readonly tensor: string; readonly file?: FileSystemFileHandle | undefined },
    readonly Kept[]
  >
  /** All tensors for a spreadsheet. */
  convertTable: Call<{ readonly model: number }, string>
  /** Takes what was downloaded out of the browser's storage. */
  convertForget: Call<Record<string, never>, void>
}

export const convertHandlers: Handlers = {
  convertTargets: () =>
    formats.filter(isWritable).map(({ id, title, extensions }) => ({ id, title, extension: extensions[0] ?? '' })),
  convertPlan: async (ask: Ask, { signal }: CallContext) =>
    summaryOf((await planned(ask, signal, { isForReading: true })).plan),
  convertRun,
  convertTensor,
  convertTable: ({ model }: ConvertCalls['convertTable']['ask']) => tableCsv(requireOpened(model).model),
  convertForget: () => removeKept(),
}

interface PlanOptions {
  /** Nothing is written by it, so that no values have to be read for it. */
  readonly isForReading?: boolean
}

function planned(
  { model, settings }: Ask,
  signal: AbortSignal,
  { isForReading = false }: PlanOptions = {},
): Promise<Conversion> {
  const { to, name, cast, quantize, rules, requantize, dequantize, only } = settings
  const options: ConvertOptions = {
    name,
    signal,
    ...(cast && { cast }),
    ...(only?.length && { only }),
    ...(dequantize && { dequantize: ['*'] }),
    ...(quantize && { quantize: { method: quantize, tensorMethod: rules, requantize, scan: !isForReading } }),
  }
  return planConversion(requireOpened(model).model, to as FormatId, options)
}

async function convertRun(ask: ConvertCalls['convertRun']['ask'], context: CallContext): Promise<readonly Kept[]> {
  const { signal, progress } = context
  const conversion = await planned(ask, signal)
  const kept: Kept[] = []
  const open = ask.file ? () => sinkOf(ask.file!) : await keptSinks(kept)
  const onProgress = ({ done, total }: { done: number; total: number }): void => progress({ done, total })
  await runConversion(conversion, open, { allowLoss: ask.allowLoss, signal, onProgress })
  return kept
}

async function convertTensor(
  { model, tensor, file }: ConvertCalls['convertTensor']['ask'],
  { signal }: CallContext,
): Promise<readonly Kept[]> {
  const kept: Kept[] = []
  const open = file ? () => sinkOf(file) : await keptSinks(kept)
  await writeLayout({ files: [npyOf(requireOpened(model).model, tensor)] }, open, { signal })
  return kept
}

/** As it is stored where NumPy has that type, otherwise as f32. */
function npyOf(model: Model, name: string): FileLayout {
  const file = `${name.replace(/[^\w.-]+/g, '_').slice(-80)}.npy`
  try {
    return npyLayout(extractTensor(model, name), file)
  } catch (error) {
    if (!isTareError(error, 'usage/option')) throw error
    return npyLayout(extractTensor(model, name, { as: 'f32' }), file)
  }
}

/** A cell that begins like a formula is one to spreadsheets; the apostrophe keeps it a text. */
const csvCell = (text: string): string => {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export function tableCsv({ tensors }: Pick<Model, 'tensors'>): string {
  const lines = ['name,type,shape,bytes,offset']
  for (const { name, dtype, encoding, shape, data } of tensors) {
    const cells = [name, (encoding ?? dtype).id, shape.join('x'), data?.byteLength ?? '', data?.origin?.offset ?? '']
    lines.push(cells.map((cell) => csvCell(String(cell))).join(','))
  }
  return `${lines.join('\r\n')}\r\n`
}

const examples = 5
const order: readonly Loss[] = ['content', 'precision', 'form', 'none']

export function summaryOf(plan: Plan): PlanSummary {
  const groups = new Map<string, { -readonly [K in keyof ActionCount]: ActionCount[K] } & { examples: PlanAction[] }>()
  for (const each of plan.actions) {
    const { action, subject, loss, requested, from, to } = each
    const key = [
      action,
      subject,
      loss,
      requested,
      subject === 'tensor' ? from : '',
      subject === 'tensor' ? to : '',
    ].join(' ')
    const group = groups.get(key) ?? { action, subject, loss, count: 0, isRequested: requested === true, examples: [] }
    group.count++
    if (group.examples.length < examples) group.examples.push(each)
    groups.set(key, group)
  }
  const actions = [...groups.values()].sort(
    (a, b) => order.indexOf(a.loss) - order.indexOf(b.loss) || b.count - a.count,
  )
  return { ...plan, actions }
}
