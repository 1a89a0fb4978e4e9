// A conversion is a plan first: what happens to every tensor, metadata entry and part, what is lost by it, and why. It is made by asking
// the target's capabilities; no format is named here.
import { countElements } from '../bytes/index.js'
import { namesOf } from '../content/model-names.js'
import { type Finding, failWith, writeCodes } from '../errors/index.js'
import { findDamage, requireFormat } from '../formats/index.js'
import {
  type DamageOptions,
  type Format,
  fileLength,
  type Layout,
  layoutSize,
  type Model,
  type Part,
  stowageKey,
  type Tensor,
  type WriteCapabilities,
} from '../model/index.js'
import { restoreStowed, Stower } from '../stow/index.js'
import { orientFor } from '../transforms/orientation.js'
import { nearestBlocks } from '../transforms/quantize-method.js'
import type { MethodChoice } from '../transforms/quantize-plan.js'
import { selector } from '../transforms/select.js'
import { attachState, dropState } from '../transforms/state.js'
import { type ActionLog, noter, worstOf } from './action-log.js'
import { canStayStored, isCopy } from './as-stored.js'
import { assertSizes } from './check-output.js'
import { takesBlocks } from './default-method.js'
import { withDispensable } from './dispensable.js'
import { inFolder, planFiles } from './files.js'
import type { ConvertOptions } from './options.js'
import { estimateMemory } from './peak-memory.js'
import { planMetadata } from './plan-metadata.js'
import { checkChosen, notesOn } from './plan-notes.js'
import { planParts } from './plan-parts.js'
import { planTensors } from './plan-tensors.js'
import type { Plan, PlanAction } from './plan-types.js'
import { recodeTensors } from './recode.js'
import { checkRenameMap, checkUniqueNames } from './rename.js'
import { sharePayloads } from './share.js'
import { sharedOut } from './share-out.js'
import { findStrayCodes } from './stray-codes.js'

export type { ConvertOptions } from './options.js'
export * from './plan-types.js'
export type { QuantizeSettings } from './recode.js'

/** A plan together with the layout that carries it out. */
export interface Conversion {
  readonly plan: Plan
  readonly layout: Layout
  /** What the target is asked to hold. */
  readonly model: Model
  readonly source: Model
  /** What the checksums of the input say about the bytes that will be read. */
  findDamage(options: Omit<DamageOptions, 'only'>): Promise<readonly Finding[]>
  /** Which method each tensor takes that is kept, where tensors are quantized. */
  readonly choices?: readonly MethodChoice[]
}

export async function planConversion(source: Model, target: string, options: ConvertOptions): Promise<Conversion> {
  if (canStayStored(source, target, options)) {
    const conversion = await planChange(source, target, { ...options, stow: false })
    if (isCopy(conversion.plan)) return conversion
  }
  return planChange(source, target, options)
}

async function planChange(source: Model, target: string, options: ConvertOptions): Promise<Conversion> {
  const format = requireFormat(target)
  const { layout: writer } = await format.load()
  const actions: ActionLog = [...(options.before ?? [])]
  const restored = options.stow === false ? source : await restore(source, actions)
  const model = prepare(forTarget(restored, target), options, actions)
  checkRenameMap(options.renameMap, model.tensors, fileOf(source))
  checkChosen(options, model, fileOf(source))
  const wanted = capabilitiesFor(format, model, options)
  const complete = await planFiles(model, wanted, options, actions)
  const oriented = options.keepOrientation ? complete : turnWeights(complete, wanted, actions)
  const recoded = await recodeTensors(oriented.tensors, options)
  // Some answers depend on the types of the tensors, and those may be others now.
  const recodedModel = { ...oriented, tensors: recoded.tensors }
  const write = await withDispensable(capabilitiesFor(format, recodedModel, options), recodedModel, options.signal)
  const stower = options.stow === false ? undefined : Stower.for(restored, target, write)
  const strays = stower ? await findStrayCodes(recoded.tensors, write, options.signal) : new Set<number>()
  const context = { write, actions, stower, strays }
  const { tensors, storedFrom, names, oldNames } = planTensors(recoded, options, context)
  checkUniqueNames(oldNames, names, options.name)
  checkStoredNames(tensors, storedFrom, names, options.name)
  checkCount(tensors, write, format.title, options.name)
  if (options.quantize) checkQuantized(actions, write, format.title, options.name)
  const { metadata, keys } = planMetadata(oriented.metadata, write, options, actions, stower)
  if (!stower?.remembersAdded) noteAdded(write.addedKeys?.(keys) ?? [], actions)
  const isOwner = (part: Part): boolean => (part.owner ?? source.format) === target
  const { name, shardSize, align, extra, signal } = options
  const parts = await planParts(oriented.parts, {
    write,
    actions,
    stower,
    isOwner,
    signal,
  })
  for (const [key, value] of stower?.entries({ keys, names, tensors }, name) ?? []) metadata.set(key, value)
  const stored =
    options.dedup && write.sharesPayloads ? await sharePayloads(tensors, storedFrom, actions, signal) : tensors
  assertSizes(stored, fileOf(source))
  const shared = sharedOut(stored, options.pool)
  const planned: Model = { ...oriented, format: target, tensors: shared, metadata, parts }
  const layout = await writer!(planned, {
    name,
    shardSize,
    align,
    rewrite: options.rewrite,
    likeReference: options.quantize?.mode === 'reference',
    signal,
    pool: options.pool,
    deterministic: options.deterministic ?? false,
    names: () => namesOf(oriented, source.metadata),
    ...(extra && { extra }),
  })
  const notes = [...notesOn(options, model, format, write), ...(write.notes?.(planned) ?? [])]
  const { choices } = recoded
  const peakMemory = estimateMemory({ source, tensors: stored, storedFrom, actions, layout, pool: options.pool })
  return {
    plan: { ...summarise(source, target, actions, layout), notes, peakMemory },
    layout,
    model: planned,
    source,
    findDamage: (how) => findDamageIn(source, options, how),
    ...(choices && { choices }),
  }
}

const fileOf = ({ files: [main] }: Model): string => main?.name ?? ''

/** Of the source only what is chosen counts, as far as its tensors are called what the options call them. */
async function findDamageIn(
  source: Model,
  { only, exclude, stateFrom }: ConvertOptions,
  how: Omit<DamageOptions, 'only'>,
): Promise<readonly Finding[]> {
  const isChoosing = (only || exclude) && !source.metadata.has(stowageKey)
  const names = isChoosing ? source.tensors.map(({ name }) => name).filter(selector(only, exclude)) : undefined
  const damage = await findDamage(source, { ...how, only: names && new Set(names) })
  return stateFrom && stateFrom !== source ? [...damage, ...(await findDamage(stateFrom, how))] : damage
}

/** What the target says that it can hold of this model. */
function capabilitiesFor(format: Format, model: Model, options: ConvertOptions): WriteCapabilities {
  const { capabilities } = format
  const given = options.extra ?? {}
  const own = capabilities.writeFor?.(model, given, options.name) ?? capabilities.write
  if (!own) {
    return failWith(writeCodes['not-writable'], { file: options.name, message: `${format.title} cannot be written` })
  }
  const write = own.hugeShapes ? own : withoutHugeShapes(own)
  return options.folder && own.folder ? inFolder(write) : write
}

/** Most formats count elements. No tensor with data has such a shape, unless it is empty. */
const withoutHugeShapes = (write: WriteCapabilities): WriteCapabilities => ({
  ...write,
  tensor: (tensor) =>
    countElements(tensor.shape) === undefined
      ? { fits: false, reason: 'its dimensions multiply to more than 2^53-1' }
      : write.tensor(tensor),
})

/** Everything that the container only carried is back in its own form. */
async function restore(source: Model, actions: ActionLog): Promise<Model> {
  const { model, names } = await restoreStowed(source)
  for (const { subject, name } of names) noter(actions, subject, name)('restore', 'none')
  return model
}

/** Versions and variants mean something only within one format. */
function forTarget(model: Model, target: string): Model {
  const said = [model, model.origin].find((each) => each?.format === target)
  return { ...model, version: said?.version, variant: said?.variant }
}

function summarise(
  source: Model,
  target: string,
  actions: readonly PlanAction[],
  layout: Layout,
): Omit<Plan, 'notes' | 'peakMemory'> {
  return {
    source: { file: fileOf(source), format: source.format },
    target,
    actions,
    loss: worstOf(unasked(actions)),
    size: layoutSize(layout),
    files: layout.files.map((file) => ({ name: file.name, size: fileLength(file) })),
  }
}

function* unasked(actions: Iterable<PlanAction>): Generator<PlanAction, void, void> {
  for (const action of actions) if (!action.requested) yield action
}

/** What the caller asks for beyond single tensors: optimizer state and parts. */
function prepare(source: Model, options: ConvertOptions, actions: ActionLog): Model {
  let model = source
  if (options.dropState) {
    model = dropState(model, (name) =>
      noter(actions, 'tensor', name)('drop', 'content', { requested: true, reason: 'optimizer state' }),
    )
  }
  if (options.stateFrom) {
    const attached = attachState(model, options.stateFrom)
    for (const name of attached.unmatched) {
      noter(actions, 'tensor', name)('drop', 'content', { reason: 'there is no parameter that it belongs to' })
    }
    model = attached.model
  }
  const added = options.parts ?? []
  if (added.length === 0) return model
  const isReplaced = (part: Part): boolean => added.some(({ kind, name }) => kind === part.kind && name === part.name)
  for (const { kind, name } of added) noter(actions, 'part', name ?? kind)('set', 'none', { requested: true })
  return { ...model, parts: [...model.parts.filter((part) => !isReplaced(part)), ...added] }
}

/** Keys that nothing will tell from those of the model. */
function noteAdded(keys: readonly string[], actions: ActionLog): void {
  const reason = 'the rules of the target ask for it'
  for (const key of keys) noter(actions, 'metadata', key)('add', 'form', { reason })
}

function turnWeights(model: Model, write: WriteCapabilities, actions: ActionLog): Model {
  const { model: turned, turned: names, from, to, isAssumed } = orientFor(model, write.orientation)
  const reason = `linear weights lie ${isAssumed ? 'presumably ' : ''}as [${from === 'in-out' ? 'in, out' : 'out, in'}], the target wants the transpose`
  for (const name of names) noter(actions, 'tensor', name)('transpose', 'none', { reason, from: from!, to: to! })
  return turned
}

/** Codes that the target turns into values again would cost precision and save nothing. */
function checkQuantized(actions: readonly PlanAction[], write: WriteCapabilities, title: string, file: string): void {
  const methods = new Map<string, string | undefined>()
  for (const { subject, name, action, to, reason } of actions) {
    if (subject === 'tensor' && action === 'quantize') methods.set(name, to)
    else if (subject === 'tensor' && action === 'dequantize' && methods.has(name)) {
      const why = reason ?? `${title} has no type for it`
      const instead = insteadFor(methods.get(name)!, write)
      const message = `it cannot be quantized to ${methods.get(name)} here: ${why}; choose ${instead ?? 'another format'}`
      failWith(writeCodes['dtype-unsupported'], { file, path: name, message })
    }
  }
}

/** The method next to this one whose blocks the target takes as they are. */
function insteadFor(methodId: string, write: WriteCapabilities): string | undefined {
  const found = nearestBlocks(methodId)
  return found && takesBlocks(write, found.dtype) ? `the method ${found.name}` : undefined
}

/** Tensors can be stored under other names than they have; where none is, all of them have been looked at. */
function checkStoredNames(
  tensors: readonly Tensor[],
  storedFrom: readonly string[],
  names: readonly string[],
  file: string,
): void {
  if (tensors.every(({ name }, i) => name === names.at(i))) return
  const stored = tensors.map(({ name }) => name)
  checkUniqueNames(storedFrom, stored, file)
}

function checkCount(tensors: readonly Tensor[], write: WriteCapabilities, title: string, file: string): void {
  if (write.maxTensors === undefined || tensors.length <= write.maxTensors) return
  const most = write.maxTensors === 1 ? 'one tensor' : `at most ${write.maxTensors} tensors`
  const message = `${title} holds ${most}, the model has ${tensors.length}; choose with --only`
  failWith(writeCodes['name-unsupported'], { file, message })
}
