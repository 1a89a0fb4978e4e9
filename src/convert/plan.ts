// A conversion is a plan first: what happens to every tensor, metadata entry and part, what is lost by it, and why. It is made in stages, by
// asking the target's capabilities; no format is named here.
import { namesOf } from '../content/model-names.js'
import type { Finding } from '../errors/index.js'
import { formatById, requireFormat } from '../formats/index.js'
import {
  type DamageOptions,
  fileLength,
  type Layout,
  layoutSize,
  type Model,
  stowageKey,
  totalSize,
} from '../model/index.js'
import { statesOrientation } from '../model/orientation.js'
import type { RunThreads } from '../threads/index.js'
import type { MethodChoice } from '../transforms/quantize/plan.js'
import { selector } from '../transforms/select.js'
import { type Loss, type PlanAction, worstOf } from './actions.js'

export { type ActionKind, isWorse, type Loss, type PlanAction } from './actions.js'

import { settleMethods } from './allocate/plan-to-size.js'
import type { ConvertOptions, QuantizeSettings, Resolved } from './options.js'
import { estimateMemory } from './peak-memory.js'
import { addFiles, fitMetadata, fitParts, stow } from './stages/contents.js'
import { assertSizes, checkTensors, fit } from './stages/fit.js'
import { recode } from './stages/recode.js'
import { share, sharedOut } from './stages/share.js'
import { addParts, changeOptimizerState, orient, ownVersion, rename, restore, select } from './stages/source.js'
import { fileOf, type InputCheck, type Stage, type State } from './stages/state.js'
import { askAgain, askTarget, noteIdleOptions } from './stages/target.js'
import { translate } from './stages/translate.js'
import { unpack, withPackedSettings } from './stages/unpack.js'

export type { ConvertOptions, LookAt, LookKind, QuantizeSettings, Resolved } from './options.js'

/** Plain JSON, so that programs can read it and receipts can keep it. */
export interface Plan {
  readonly source: { readonly file: string; readonly format: string }
  readonly target: string
  readonly actions: readonly PlanAction[]
  /** What else is worth knowing: wishes that the target cannot fulfil, although nothing is lost by that. */
  readonly notes: readonly string[]
  /** The worst of all losses, asked for or not. */
  readonly loss: Loss
  /** The worst loss that nobody asked for, which is refused unless it is allowed. */
  readonly unrequestedLoss: Loss
  readonly size: number
  readonly files: readonly { readonly name: string; readonly size: number }[]
  /** The maximum of memory, in bytes, that carrying it out takes, beyond the program itself: an estimate, rather too high than too low. */
  readonly peakMemory: number
}

/** A plan together with the layout that carries it out. */
export interface Conversion {
  readonly plan: Plan
  readonly layout: Layout
  /** What the target is asked to hold. */
  readonly model: Model
  readonly source: Model
  /** What the checksums of the input say about the bytes that will be read. */
  findDamage(options: Omit<DamageOptions, 'only'>): Promise<readonly Finding[]>
  /** What has to be looked at in the input before the output may become visible. All of it together takes one reading of the input. */
  readonly checks: readonly InputCheck[]
  /** What was found by reading values. */
  readonly resolved: Resolved
  /** Which method each tensor takes that is kept, where tensors are quantized. */
  readonly choices?: readonly MethodChoice[]
  /** The threads that make the bytes; running the conversion sets them. */
  readonly threads: RunThreads
}

/** A stage that only some options or models need. */
const when =
  (isNeeded: (state: State) => unknown, stage: Stage): Stage =>
  (state) =>
    isNeeded(state) ? stage(state) : state

/** Whether published models of the two formats are in different words. */
function changesConventions({ model, target, options }: State): boolean {
  const from = formatById(model.format)?.capabilities.conventions
  const to = target.capabilities.conventions
  return !options.asIs && from !== undefined && to !== undefined && from !== to
}

const stages: readonly Stage[] = [
  when(({ options, model }) => options.stow !== false && model.metadata.has(stowageKey), restore),
  ownVersion,
  when(({ options }) => options.dropState || options.stateFrom, changeOptimizerState),
  when(({ options }) => options.parts?.length, addParts),
  when(({ options }) => options.dequantize || options.unpack, unpack),
  when(changesConventions, translate),
  askTarget,
  noteIdleOptions,
  addFiles,
  when(
    ({ options, model, write }) => !options.keepOrientation && (write.orientation || statesOrientation(model)),
    orient,
  ),
  select,
  when(({ options }) => options.rename || options.renameMap, rename),
  when(({ options }) => options.dequantize || options.quantize || options.cast, recode),
  askAgain,
  fit,
  checkTensors,
  fitMetadata,
  fitParts,
  stow,
  when(({ options, write }) => options.dedup && write.sharesPayloads, share),
]

export async function planConversion(source: Model, target: string, asked: ConvertOptions): Promise<Conversion> {
  const given = asked.quantize ? await withPackedSettings(source, { ...asked, quantize: asked.quantize }) : asked
  const { quantize, resolved } = given
  const settled = quantize?.target && (await settledBy(source, target, { ...given, quantize }))
  const methods = quantize?.target && settled?.methods
  const options = settled ? { ...given, quantize: settled, resolved: { ...resolved, methods } } : given
  if (canStayStored(source, target, options)) {
    const conversion = await planChange(source, target, { ...options, stow: false })
    if (isCopy(conversion.plan)) return conversion
  }
  return planChange(source, target, options)
}

const settledBy = (
  source: Model,
  target: string,
  options: ConvertOptions & { readonly quantize: QuantizeSettings },
): QuantizeSettings | Promise<QuantizeSettings> => {
  const { target: _, ...settings } = options.quantize
  const methods = options.resolved?.methods
  return methods ? { ...settings, methods } : settleMethods(source, target, options, planConversion)
}

async function planChange(source: Model, target: string, options: ConvertOptions): Promise<Conversion> {
  options.collectGarbage?.()
  let state = begin(source, target, options)
  for (const stage of stages) state = await stage(state)
  const stored = state.items.flatMap((item) => item.stored ?? [])
  assertSizes(stored, fileOf(source))
  const { threads, choices } = state
  const damageChecks = damageChecksOf(source, options)
  const model: Model = { ...state.model, format: target, tensors: sharedOut(stored, threads) }
  options.collectGarbage?.()
  const layout = await layOut(model, state)
  options.collectGarbage?.()
  return {
    plan: summarize(state, model, layout),
    layout,
    model,
    source,
    findDamage: async (how) => {
      const found: Finding[] = []
      for (const check of damageChecks) for (const each of await check.run(how)) found.push(each)
      return found
    },
    checks: damageChecks,
    resolved: state.resolved ?? options.resolved ?? {},
    ...(choices && { choices }),
    threads,
  }
}

function begin(source: Model, target: string, options: ConvertOptions): State {
  return {
    options,
    target: requireFormat(target),
    source,
    restored: source,
    meant: source,
    model: source,
    items: [],
    keys: [],
    write: nothingFits,
    stower: undefined,
    actions: [...(options.before ?? [])],
    notes: [],
    threads: {},
  }
}

/** Until the target has been asked. */
const nothingFits: State['write'] = {
  tensor: () => ({ fits: false }),
  metadata: () => ({ fits: false }),
  part: () => ({ fits: false }),
  order: 'both',
  shards: false,
}

async function layOut(model: Model, { target, meant, source, options, threads }: State): Promise<Layout> {
  const { name, shardSize, align, rewrite, extra, signal, deterministic = false } = options
  const { layout } = await target.load()
  return layout!(model, {
    name,
    shardSize,
    align,
    rewrite,
    likeReference: options.quantize?.mode === 'reference',
    signal,
    threads,
    deterministic,
    names: () => namesOf(meant, source.metadata),
    ...(extra && { extra }),
  })
}

function summarize(
  { source, target, items, actions, notes, write, options }: State,
  model: Model,
  layout: Layout,
): Plan {
  return {
    source: { file: fileOf(source), format: source.format },
    target: target.id,
    actions,
    loss: worstOf(actions),
    unrequestedLoss: worstOf(actions.filter(({ requested }) => !requested)),
    size: layoutSize(layout),
    files: layout.files.map((file) => ({ name: file.name, size: fileLength(file) })),
    notes: [...notes, ...(write.notes?.(model) ?? [])],
    peakMemory: estimateMemory({ source, items, actions, layout, pool: options.pool }),
  }
}

/** Of the source only what is chosen counts, as far as its tensors are called what the options call them. */
function damageChecksOf(source: Model, { only, exclude, stateFrom }: ConvertOptions): InputCheck[] {
  const isChoosing = (only || exclude) && !source.metadata.has(stowageKey)
  const names = isChoosing ? source.tensors.map(({ name }) => name).filter(selector(only, exclude)) : undefined
  const chosen = names && new Set(names)
  const ofModel = (model: Model, only?: ReadonlySet<string>): InputCheck[] => {
    const finders = model.damageFinders ?? []
    const bytes = finders.length === 0 ? 0 : totalSize(model) / finders.length
    return finders.map((find) => ({ bytes, run: (how) => find({ ...how, only }) }))
  }
  return [...ofModel(source, chosen), ...(stateFrom && stateFrom !== source ? ofModel(stateFrom) : [])]
}

// A container that carries what it has no place for stays as it is when it only goes into another file of its format. Taken out and put in
// again, the same content would make another file, where formats promise that what did not change travels as it is stored.
/** Options that say where and how the same content is laid out. */
const layoutKeys: ReadonlySet<keyof ConvertOptions> = new Set([
  'name',
  'shardSize',
  'align',
  'deterministic',
  'rewrite',
  'extra',
  'signal',
  'collectGarbage',
  'pool',
  'keepOrientation',
  'resolved',
])
/** Done unless they are false. */
const defaultOn: ReadonlySet<keyof ConvertOptions> = new Set(['stow', 'files'])

function asksForChange(key: keyof ConvertOptions, value: unknown): boolean {
  if (defaultOn.has(key)) return value === false
  if (Array.isArray(value)) return value.length > 0
  return value !== undefined && value !== false && !layoutKeys.has(key)
}

/** Whether what a model carries can stay where it is, as far as the options tell. */
const canStayStored = (source: Model, target: string, options: ConvertOptions): boolean =>
  source.format === target &&
  source.metadata.has(stowageKey) &&
  !keysOf(options).some((key) => asksForChange(key, options[key]))

const keysOf = (options: ConvertOptions): (keyof ConvertOptions)[] => Object.keys(options) as (keyof ConvertOptions)[]

/** Whether a plan leaves everything as it was. */
const isCopy = ({ actions }: Plan): boolean =>
  actions.every(({ action }) => action === 'copy' || action === 'recompute')
