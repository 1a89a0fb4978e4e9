// A conversion is a plan first: what happens to every tensor, metadata entry and part, what is lost by it, and why. The plan is plain
// JSON. It is made by asking the target's capabilities; no format is named here.
import { dtypeById } from '../dtypes/index.js'
import { failWith, usageCodes, writeCodes } from '../errors/index.js'
import { requireFormat } from '../formats/index.js'
import {
  type Fit,
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
import { castLoss, castTensor } from '../transforms/cast.js'
import { columnMajor, rowMajor } from '../transforms/reorder.js'
import { parseRename, renameTensor, selector } from '../transforms/select.js'
import { adaptTensor } from './adapt.js'

export type Loss = 'none' | 'form' | 'precision' | 'content'
export type ActionKind =
  | 'copy'
  | 'cast'
  | 'quantize'
  | 'dequantize'
  | 'quantize'
  | 'reorder'
  | 'rename'
  | 'map'
  | 'set'
  | 'recompute'
  | 'drop'

export interface PlanAction {
  readonly subject: 'tensor' | 'metadata' | 'part'
  readonly name: string
  readonly action: ActionKind
  readonly loss: Loss
  /** Asked for by the caller: named, but not refused. */
  readonly requested?: true
  readonly reason?: string
  readonly from?: string
  readonly to?: string
}

export interface Plan {
  readonly source: { readonly file: string; readonly format: string }
  readonly target: string
  readonly actions: readonly PlanAction[]
  /** The worst loss that nobody asked for. */
  readonly loss: Loss
  readonly size: number
  readonly files: readonly { readonly name: string; readonly size: number }[]
}

export interface ConvertOptions {
  readonly name: string
  readonly only?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
  readonly rename?: readonly string[] | undefined
  /** Float tensors become this type; all others stay as they are. */
  readonly cast?: string | undefined
  readonly set?: readonly (readonly [key: string, value: string])[] | undefined
  readonly unset?: readonly string[] | undefined
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

const lossOrder: readonly Loss[] = ['none', 'form', 'precision', 'content']
export const isWorse = (a: Loss, b: Loss): boolean => lossOrder.indexOf(a) > lossOrder.indexOf(b)

/** Versions and variants mean something only within one format. */
const ofOtherFormat = { version: undefined, variant: undefined }

export async function planConversion(model: Model, target: string, options: ConvertOptions): Promise<Conversion> {
  const format = requireFormat(target)
  const { write } = format.capabilities
  if (!format.layout || !write)
    failWith(writeCodes['not-writable'], { file: options.name, message: `${format.title} cannot be written` })
  const actions: PlanAction[] = []
  const tensors = planTensors(model.tensors, write, options, actions)
  checkUnique(tensors, options.name)
  const metadata = planMetadata(model, write, options, actions)
  const parts = planParts(model.parts, write, actions, model.format === target)
  const { name, shardSize, align, extra, signal } = options
  const layout = await format.layout(
    { ...model, ...(model.format !== target && ofOtherFormat), format: target, tensors, metadata, parts },
    { name, shardSize, align, signal, deterministic: options.deterministic ?? false, ...(extra && { extra }) },
  )
  const unasked = actions.filter((action) => !action.requested)
  const plan: Plan = {
    source: { file: model.files[0]?.name ?? '', format: model.format },
    target,
    actions,
    loss: unasked.reduce<Loss>((worst, { loss }) => (isWorse(loss, worst) ? loss : worst), 'none'),
    size: layoutSize(layout),
    files: layout.files.map((file) => ({ name: file.name, size: fileLength(file) })),
  }
  return { plan, layout }
}

function planTensors(
  tensors: readonly Tensor[],
  write: WriteCapabilities,
  options: ConvertOptions,
  actions: PlanAction[],
): Tensor[] {
  const isWanted = selector(options.only, options.exclude)
  const renames = (options.rename ?? []).map(parseRename)
  const cast = options.cast === undefined ? undefined : requireDType(options.cast)
  const kept: Tensor[] = []
  for (const original of tensors) {
    const note = (action: ActionKind, loss: Loss, more: Partial<PlanAction> = {}): void => {
      actions.push({ subject: 'tensor', name: original.name, action, loss, ...more })
    }
    if (!isWanted(original.name)) {
      note('drop', 'content', { requested: true, reason: 'not selected' })
      continue
    }
    const before = actions.length
    let tensor = renameTensor(
      original,
      renames.reduce((name, rename) => rename(name), original.name),
    )
    if (tensor.name !== original.name) note('rename', 'none', { requested: true, from: original.name, to: tensor.name })
    if (cast && tensor.data && tensor.dtype.kind === 'float' && tensor.dtype.id !== cast.id) {
      note('cast', castLoss(tensor.dtype, cast), { requested: true, from: tensor.dtype.id, to: cast.id })
      tensor = castTensor(tensor, cast)
    }
    if (tensor.quant && !write.quant) {
      const reason = 'the target has no place for quantization parameters'
      actions.push({ subject: 'part', name: `quantization of ${tensor.name}`, action: 'drop', loss: 'content', reason })
      tensor = { ...tensor, quant: undefined }
    }
    let fit = write.tensor(tensor)
    const adapted = fit.fits ? undefined : adaptTensor(tensor, write)
    if (adapted) {
      const { action, loss, from, to } = adapted
      note(action, loss, { from, to, ...(fit.reason !== undefined && { reason: fit.reason }) })
      tensor = adapted.tensor
      fit = adapted.fit
    }
    const fitted = applyFit(fit, tensor, note)
    if (!fitted) continue
    kept.push(inOrder(fitted, write.order, note))
    if (actions.length === before) note('copy', 'none')
  }
  return kept
}

type Note = (action: ActionKind, loss: Loss, more?: Partial<PlanAction>) => void

function inOrder(tensor: Tensor, order: WriteCapabilities['order'], note: Note): Tensor {
  if (order === 'both' || tensor.order === order) return tensor
  // With at most one dimension above 1, both orders are the same bytes.
  if (tensor.shape.filter((dim) => dim !== 1).length > 1) {
    note('reorder', 'none', { reason: 'the target stores elements in the other order', from: tensor.order, to: order })
  }
  return order === 'row' ? rowMajor(tensor) : columnMajor(tensor)
}

function applyFit<T>(fit: Fit<T>, value: T, note: Note): T | undefined {
  if (!fit.fits) {
    note('drop', 'content', { reason: fit.reason ?? 'the target has no place for it' })
    return undefined
  }
  if (fit.as === undefined) return value
  note('map', 'form', { ...(fit.reason !== undefined && { reason: fit.reason }) })
  return fit.as
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
    const note = (action: ActionKind, loss: Loss, more: Partial<PlanAction> = {}): void => {
      actions.push({ subject: 'metadata', name: key, action, loss, ...more })
    }
    if (unset.has(key)) note('drop', 'content', { requested: true, reason: 'unset' })
    else if (!set.has(key)) {
      const before = actions.length
      const fitted = applyFit(write.metadata(key, value), value, note)
      if (fitted) metadata.set(key, fitted)
      if (actions.length === before) note('copy', 'none')
    }
  }
  for (const [key, value] of set) {
    actions.push({ subject: 'metadata', name: key, action: 'set', loss: 'none', requested: true, to: value })
    metadata.set(key, text(value))
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
    const note = (action: ActionKind, loss: Loss, more: Partial<PlanAction> = {}): void => {
      actions.push({ subject: 'part', name: part.name ?? part.kind, action, loss, ...more })
    }
    if (part.sharing === 'derived') {
      note('recompute', 'none', { reason: 'it follows from the rest' })
      if (sameFormat) kept.push(part)
    } else if (part.sharing === 'private' && sameFormat) {
      note('copy', 'none')
      kept.push(part)
    } else {
      const before = actions.length
      const fitted = applyFit(write.part(part), part, note)
      if (fitted) kept.push(fitted)
      if (fitted && actions.length === before) note('copy', 'none')
    }
  }
  return kept
}

function requireDType(id: string) {
  const dtype = dtypeById(id.toLowerCase())
  return dtype?.codec
    ? dtype
    : failWith(usageCodes.option, { file: '--cast', message: `there is no element type "${id}" to cast to` })
}

function checkUnique(tensors: readonly Tensor[], file: string): void {
  const names = new Set<string>()
  for (const { name } of tensors) {
    if (names.has(name))
      failWith(writeCodes['duplicate-name'], {
        file,
        path: name,
        message: `two tensors would be called ${JSON.stringify(name)}`,
      })
    names.add(name)
  }
}
