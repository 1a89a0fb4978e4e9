// A conversion is a plan first: what happens to every tensor, metadata entry and part, what is lost by it, and why. It is made by asking
// the target's capabilities; no format is named here.
import { failWith, writeCodes } from '../errors/index.js'
import { requireFormat } from '../formats/index.js'
import {
  fileLength,
  type Layout,
  layoutSize,
  type Model,
  type Part,
  type Tensor,
  type WriteCapabilities,
  type WriteOptions,
} from '../model/index.js'
import { restoreStowed, Stower } from '../stow/index.js'
import { orientFor } from '../transforms/orientation.js'
import { attachState, dropState } from '../transforms/state.js'
import { type FileOptions, inFolder, planFiles } from './files.js'
import { type MetadataOptions, planMetadata } from './plan-metadata.js'
import { planParts } from './plan-parts.js'
import { planTensors, type TensorOptions } from './plan-tensors.js'
import { isWorse, type Loss, noter, type Plan, type PlanAction } from './plan-types.js'

export * from './plan-types.js'

export interface ConvertOptions extends TensorOptions, MetadataOptions, FileOptions {
  /** False: what the target has no place for is dropped, not put into its metadata; and nothing that was put there comes back. */
  readonly stow?: boolean | undefined
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
  /** What the target is asked to hold. */
  readonly model: Model
}

export async function planConversion(source: Model, target: string, options: ConvertOptions): Promise<Conversion> {
  const format = requireFormat(target)
  const { capabilities } = format
  const actions: PlanAction[] = []
  const restored = options.stow === false ? source : await restore(source, actions)
  const model = prepare(forTarget(restored, target), options, actions)
  const given = options.extra ?? {}
  const own = capabilities.writeFor?.(model, given) ?? capabilities.write ?? format.exporter?.write(model, given)
  const writer = format.layout ? format : format.exporter
  if (!writer?.layout || !own) {
    return failWith(writeCodes['not-writable'], { file: options.name, message: `${format.title} cannot be written` })
  }
  const write = options.folder && own.folder ? inFolder(own) : own
  const stower = options.stow === false ? undefined : Stower.for(restored, target, write)
  const complete = await planFiles(model, write, options, actions)
  const oriented = options.keepOrientation ? complete : turnWeights(complete, write, actions)
  const { tensors, names } = planTensors(oriented.tensors, write, options, actions, stower)
  checkUnique(tensors, options.name)
  checkCount(tensors, write, format.title, options.name)
  const { metadata, keys } = planMetadata(oriented.metadata, write, options, actions, stower)
  const isOwner = (part: Part): boolean => (part.owner ?? source.format) === target
  const { name, shardSize, align, extra, signal } = options
  const parts = await planParts(oriented.parts, {
    write,
    actions,
    stower,
    isOwner,
    isCarried: model.origin !== undefined,
    signal,
  })
  for (const [key, value] of stower?.entries({ keys, names, tensors }, name) ?? []) metadata.set(key, value)
  const planned: Model = { ...oriented, format: target, tensors, metadata, parts }
  const layout = await writer.layout(planned, {
    name,
    shardSize,
    align,
    signal,
    deterministic: options.deterministic ?? false,
    ...(extra && { extra }),
  })
  return { plan: summarise(source, target, actions, layout), layout, model: planned }
}

/** Everything that the container only carried is back in its own form. */
async function restore(source: Model, actions: PlanAction[]): Promise<Model> {
  const { model, names } = await restoreStowed(source)
  for (const { subject, name } of names) noter(actions, subject, name)('restore', 'none')
  return model
}

/** Versions and variants mean something only within one format. */
function forTarget(model: Model, target: string): Model {
  const said = [model, model.origin].find((each) => each?.format === target)
  return { ...model, version: said?.version, variant: said?.variant }
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
    model = dropState(model)
    const kept = new Set(model.tensors)
    for (const tensor of source.tensors) {
      if (!kept.has(tensor))
        noter(actions, 'tensor', tensor.name)('drop', 'content', { requested: true, reason: 'optimizer state' })
    }
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
