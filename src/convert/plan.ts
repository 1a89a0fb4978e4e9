// A conversion is a plan first: what happens to every tensor, metadata entry and part, what is lost by it, and why. It is made by asking
// the target's capabilities; no format is named here.
import { failWith, writeCodes } from '../errors/index.js'
import { requireFormat } from '../formats/index.js'
import {
  fileLength,
  type Layout,
  layoutSize,
  type MetaValue,
  type Model,
  type Part,
  type Tensor,
  text,
  type WriteCapabilities,
  type WriteOptions,
} from '../model/index.js'
import { orientFor } from '../transforms/orientation.js'
import { attachState, dropState } from '../transforms/state.js'
import { applyFit } from './apply-fit.js'
import { planTensors, type TensorOptions } from './plan-tensors.js'
import { isWorse, type Loss, noter, type Plan, type PlanAction } from './plan-types.js'

export * from './plan-types.js'

export interface ConvertOptions extends TensorOptions {
  readonly name: string
  readonly set?: readonly (readonly [key: string, value: string])[] | undefined
  readonly unset?: readonly string[] | undefined
  /** Leave linear weights the way round that they have, whatever the target wants. */
  readonly keepOrientation?: boolean | undefined
  /** Without what an optimizer keeps beside the weights. */
  readonly dropState?: boolean | undefined
  /** Take such state from this model; the model itself turns tensors called `parameter#statistic` into state. */
  readonly stateFrom?: Model | undefined
  /** Parts to add, in place of those of the same kind and name. */
  readonly parts?: readonly Part[] | undefined
  readonly shardSize?: number | undefined
  readonly align?: number | undefined
  readonly deterministic?: boolean | undefined
  readonly extra?: WriteOptions['extra']
  readonly signal?: AbortSignal | undefined
}

/** A plan together with the layout that carries it out. */
export interface Conversion {
  readonly plan: Plan
  readonly layout: Layout
}

/** Versions and variants mean something only within one format. */
const ofOtherFormat = { version: undefined, variant: undefined }

export async function planConversion(source: Model, target: string, options: ConvertOptions): Promise<Conversion> {
  const format = requireFormat(target)
  const { capabilities } = format
  const actions: PlanAction[] = []
  const model = prepare(source, options, actions)
  const given = options.extra ?? {}
  const write = capabilities.writeFor?.(model, given) ?? capabilities.write ?? format.exporter?.write(model, given)
  const writer = format.layout ? format : format.exporter
  if (!writer?.layout || !write) {
    return failWith(writeCodes['not-writable'], { file: options.name, message: `${format.title} cannot be written` })
  }
  const oriented = options.keepOrientation ? model : turnWeights(model, write, actions)
  const tensors = planTensors(oriented.tensors, write, options, actions)
  checkUnique(tensors, options.name)
  checkCount(tensors, write, format.title, options.name)
  const metadata = planMetadata(oriented, write, options, actions)
  const parts = planParts(oriented.parts, write, actions, source.format === target)
  const { name, shardSize, align, extra, signal } = options
  const layout = await writer.layout(
    { ...oriented, ...(source.format !== target && ofOtherFormat), format: target, tensors, metadata, parts },
    { name, shardSize, align, signal, deterministic: options.deterministic ?? false, ...(extra && { extra }) },
  )
  return { plan: summarise(source, target, actions, layout), layout }
}

function summarise(source: Model, target: string, actions: readonly PlanAction[], layout: Layout): Plan {
  const unasked = actions.filter((action) => !action.requested)
  return {
    source: { file: source.files[0]?.name ?? '', format: source.format },
    target,
    actions,
    loss: unasked.reduce<Loss>((worst, { loss }) => (isWorse(loss, worst) ? loss : worst), 'none'),
    size: layoutSize(layout),
    files: layout.files.map((file) => ({ name: file.name, size: fileLength(file) })),
  }
}

/** What the caller asks for beyond single tensors: optimizer state and parts. */
function prepare(source: Model, options: ConvertOptions, actions: PlanAction[]): Model {
  let model = source
  if (options.dropState) {
    for (const { name, role } of source.tensors) {
      if (role === 'state')
        noter(actions, 'tensor', name)('drop', 'content', { requested: true, reason: 'optimizer state' })
    }
    model = dropState(model)
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

function turnWeights(model: Model, write: WriteCapabilities, actions: PlanAction[]): Model {
  const { model: turned, turned: names, from, to, isAssumed } = orientFor(model, write.orientation)
  const reason = `linear weights lie ${isAssumed ? 'presumably ' : ''}as [${from === 'in-out' ? 'in, out' : 'out, in'}], the target wants the transpose`
  for (const name of names) noter(actions, 'tensor', name)('transpose', 'none', { reason, from: from!, to: to! })
  return turned
}

function planMetadata(
  model: Model,
  write: WriteCapabilities,
  options: ConvertOptions,
  actions: PlanAction[],
): Map<string, MetaValue> {
  const metadata = new Map<string, MetaValue>()
  const unset = new Set(options.unset)
  const set = new Map(options.set)
  for (const [key, value] of model.metadata) {
    const note = noter(actions, 'metadata', key)
    if (unset.has(key)) note('drop', 'content', { requested: true, reason: 'unset' })
    else if (!set.has(key)) {
      const before = actions.length
      const fitted = applyFit(write.metadata(key, value), value, note)
      if (fitted) metadata.set(key, fitted)
      if (actions.length === before) note('copy', 'none')
    }
  }
  for (const [key, value] of set) {
    noter(actions, 'metadata', key)('set', 'none', { requested: true, to: value })
    const fit = write.metadata(key, text(value))
    // A key that is there already has a type, and its format reads the text as that.
    if (!fit.fits && !model.metadata.has(key)) {
      const reason = fit.reason ?? 'the target has no metadata'
      failWith(writeCodes['name-unsupported'], { file: options.name, path: key, message: `cannot be set: ${reason}` })
    }
    metadata.set(key, fit.as ?? text(value))
  }
  return metadata
}

function planParts(
  parts: readonly Part[],
  write: WriteCapabilities,
  actions: PlanAction[],
  sameFormat: boolean,
): Part[] {
  const kept: Part[] = []
  for (const part of parts) {
    const note = noter(actions, 'part', part.name ?? part.kind)
    const before = actions.length
    if (part.sharing === 'derived') {
      note('recompute', 'none', { reason: 'it follows from the rest' })
      if (sameFormat) kept.push(part)
    } else {
      const fitted = part.sharing === 'private' && sameFormat ? part : applyFit(write.part(part), part, note)
      if (fitted) kept.push(fitted)
      if (fitted && actions.length === before) note('copy', 'none')
    }
  }
  return kept
}

function checkUnique(tensors: readonly Tensor[], file: string): void {
  const names = new Set<string>()
  for (const { name } of tensors) {
    if (names.has(name)) {
      const message = `two tensors would be called ${JSON.stringify(name)}`
      failWith(writeCodes['duplicate-name'], { file, path: name, message })
    }
    names.add(name)
  }
}

function checkCount(tensors: readonly Tensor[], write: WriteCapabilities, title: string, file: string): void {
  if (write.mostTensors === undefined || tensors.length <= write.mostTensors) return
  const message = `${title} holds at most ${write.mostTensors} tensors, the model has ${tensors.length}; choose with --only`
  failWith(writeCodes['name-unsupported'], { file, message })
}
