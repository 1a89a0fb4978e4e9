// What happens to each tensor: selected, renamed, cast, adapted to the target's types, put into the target's order of elements.
import { type DType, dtypeById } from '../dtypes/index.js'
import { failWith, usageCodes } from '../errors/index.js'
import type { Tensor, WriteCapabilities } from '../model/index.js'
import { castLoss, castTensor } from '../transforms/cast.js'
import { changesForm, keepBytes } from '../transforms/keep-bytes.js'
import { columnMajor, rowMajor } from '../transforms/reorder.js'
import { parseRename, renameTensor, selector } from '../transforms/select.js'
import { adaptTensor } from './adapt.js'
import { applyFit } from './apply-fit.js'
import { type Note, noter, type PlanAction } from './plan-types.js'

export interface TensorOptions {
  readonly only?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
  readonly rename?: readonly string[] | undefined
  /** Float tensors become this type; all others stay as they are. */
  readonly cast?: string | undefined
  /** Where the target wants another order of elements, reverse the dims over the same bytes instead of moving elements. */
  readonly keepBytes?: boolean | undefined
}

export function planTensors(
  tensors: readonly Tensor[],
  write: WriteCapabilities,
  options: TensorOptions,
  actions: PlanAction[],
): Tensor[] {
  const isWanted = selector(options.only, options.exclude)
  const renames = (options.rename ?? []).map(parseRename)
  const cast = options.cast === undefined ? undefined : requireDType(options.cast)
  const kept: Tensor[] = []
  for (const original of tensors) {
    const note = noter(actions, 'tensor', original.name)
    if (!isWanted(original.name)) {
      note('drop', 'content', { requested: true, reason: 'not selected' })
      continue
    }
    const before = actions.length
    const name = renames.reduce((old, rename) => rename(old), original.name)
    let tensor = renameTensor(original, name)
    if (name !== original.name) note('rename', 'none', { requested: true, from: original.name, to: name })
    if (cast) tensor = castFloat(tensor, cast, note)
    tensor = withoutQuant(tensor, write, actions)
    const fitted = fitTensor(tensor, write, note)
    if (!fitted) continue
    kept.push(inOrder(fitted, write.order, options.keepBytes ?? false, note))
    if (actions.length === before) note('copy', 'none')
  }
  return kept
}

function castFloat(tensor: Tensor, cast: DType, note: Note): Tensor {
  if (!tensor.data || tensor.dtype.kind !== 'float' || tensor.dtype.id === cast.id) return tensor
  // A row that is no whole number of blocks cannot have a block type; such tensors stay as they are.
  if (cast.byteLength(tensor.shape) === undefined) return tensor
  note('cast', castLoss(tensor.dtype, cast), { requested: true, from: tensor.dtype.id, to: cast.id })
  return castTensor(tensor, cast)
}

function withoutQuant(tensor: Tensor, write: WriteCapabilities, actions: PlanAction[]): Tensor {
  if (!tensor.quant || write.quant) return tensor
  const reason = 'the target has no place for quantization parameters'
  noter(actions, 'part', `quantization of ${tensor.name}`)('drop', 'content', { reason })
  return { ...tensor, quant: undefined }
}

function fitTensor(tensor: Tensor, write: WriteCapabilities, note: Note): Tensor | undefined {
  const fit = write.tensor(tensor)
  const adapted = fit.fits ? undefined : adaptTensor(tensor, write)
  if (!adapted) return applyFit(fit, tensor, note)
  const { action, loss, from, to } = adapted
  note(action, loss, { from, to, ...(fit.reason !== undefined && { reason: fit.reason }) })
  return applyFit(adapted.fit, adapted.tensor, note)
}

function inOrder(tensor: Tensor, order: WriteCapabilities['order'], keep: boolean, note: Note): Tensor {
  if (order === 'both' || tensor.order === order) return tensor
  const change = { from: tensor.order, to: order }
  if (keep) {
    const reason = 'the same bytes with reversed dimensions'
    if (changesForm(tensor, order)) note('reorder', 'form', { ...change, requested: true, reason })
    return keepBytes(tensor, order)
  }
  // With at most one dimension above 1, both orders are the same bytes.
  if (tensor.shape.filter((dim) => dim !== 1).length > 1) {
    note('reorder', 'none', { ...change, reason: 'the target stores elements in the other order' })
  }
  return order === 'row' ? rowMajor(tensor) : columnMajor(tensor)
}

function requireDType(id: string): DType {
  const dtype = dtypeById(id.toLowerCase())
  if (dtype?.codec) return dtype
  return failWith(usageCodes.option, { file: '--cast', message: `there is no element type "${id}" to cast to` })
}
