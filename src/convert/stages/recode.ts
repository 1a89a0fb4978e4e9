// What changes the numbers of tensors because the caller wants it: codes become values, values become codes, floats other floats. It comes
// before the target is asked what it can hold, so the target sees tensors as they would be written.
import { type DType, dtypeById, dtypes, f32 } from '../../dtypes/index.js'
import { callerWord, didYouMean, failWith, usageCodes } from '../../errors/index.js'
import type { Tensor } from '../../model/index.js'
import { castLoss, castTensor } from '../../transforms/cast.js'
import { dequantizeLoss, dequantizeTensor, isQuantized, whyNotDequantized } from '../../transforms/dequantize.js'
import type { MethodChoice } from '../../transforms/quantize/plan.js'
import { rowMajor } from '../../transforms/reorder.js'
import { renameTensor, selector } from '../../transforms/select.js'
import type { Change } from '../actions.js'
import type { ConvertOptions } from '../options.js'
import { fileTypeSettings, inOrderOfReference } from './file-type.js'
import { quantizeTensors } from './quantize-tensors.js'
import type { Item, State } from './state.js'
import { alone, type Changes, change, typeOf } from './tensor-change.js'

/** Tensors are decoded, quantized or cast where the caller asks for it. */
export async function recode(state: State): Promise<State> {
  const { options, model, items, write } = state
  const { dequantize, quantize, only, exclude } = options
  const cast = options.cast === undefined ? undefined : requireDType(options.cast)
  const isWanted = selector(only, exclude)
  const isCast = (tensor: Tensor): boolean => isWanted(tensor.name) && (write.isWeight?.(tensor) ?? true)
  const changes: Changes = new Map()
  const decoded = dequantize ? dequantizeAll(model.tensors, isWanted, dequantize, cast, changes) : model.tensors
  const quantized = quantize && (await quantizeTensors(state, decoded, isWanted, quantize, changes))
  const coded = quantized?.tensors ?? decoded
  const tensors = cast
    ? coded.map((each, i) => (isCast(each) && !changes.has(i) ? castFloat(each, i, cast, changes) : each))
    : coded
  const recoded: State = {
    ...state,
    model: { ...model, tensors },
    items: items.map((item, i) => recodedItem(item, tensors[i]!, changes.get(i))),
  }
  if (!quantized) return recoded
  const { choices } = quantized
  const set = fileTypeSettings(options, model.metadata, quantize, choices)
  return {
    ...(set.length > 0 && quantize.mode === 'reference' ? inOrderOfReference(recoded, set) : recoded),
    options: { ...options, set: [...set, ...(options.set ?? [])] },
    choices,
    resolved: { ...options.resolved, ranges: quantized.ranges },
    notes: [...state.notes, ...idleMethod(choices, options)],
  }
}

function idleMethod(choices: readonly MethodChoice[], { quantize: settings }: ConvertOptions): string[] {
  if (choices.some(({ method }) => method !== undefined)) return []
  const where = callerWord('`tare quantize --dry-run` says', '`choices` say')
  return [`${callerWord('--quantize', 'quantize')} ${settings?.method} changes nothing; ${where} why for each tensor`]
}

function recodedItem(item: Item, recoded: Tensor, change: Change | undefined): Item {
  const { tensor, changes } = item
  if (!tensor || !change) return item
  const done = changes.length > 0 ? [...changes, change] : alone(change)
  return { ...item, tensor: renameTensor(recoded, tensor.name), changes: done }
}

function dequantizeAll(
  source: readonly Tensor[],
  isWanted: (name: string) => boolean,
  globs: readonly string[],
  cast: DType | undefined,
  changes: Changes,
): readonly Tensor[] {
  const isMeant = selector(globs)
  const to = cast?.kind === 'float' ? cast : f32
  return source.map((tensor, i) => {
    if (!isQuantized(tensor) || !isWanted(tensor.name) || !isMeant(tensor.name)) return tensor
    const why = whyNotDequantized(tensor)
    if (why !== undefined) {
      changes.set(i, { action: 'copy', loss: 'none', reason: `it stays as it is: ${why}` })
      return tensor
    }
    // Where every value is there, the codes still are not.
    const loss = dequantizeLoss(tensor, to) === 'none' ? 'form' : 'precision'
    changes.set(i, change('dequantize', loss, typeOf(tensor), to.id))
    return dequantizeTensor(tensor, to)
  })
}

function castFloat(tensor: Tensor, position: number, cast: DType, changes: Changes): Tensor {
  if (!tensor.data || tensor.dtype.kind !== 'float' || tensor.dtype.id === cast.id) return tensor
  // A row that is not a whole number of blocks cannot have a block type; such tensors stay as they are.
  if (cast.byteLength(tensor.shape) === undefined) return tensor
  // Blocks are made of rows, and cannot be put into another order later.
  const inOrder = cast.kind === 'block' ? rowMajor(tensor) : tensor
  changes.set(position, change('cast', castLoss(tensor.dtype, cast), tensor.dtype, cast.id))
  return castTensor(inOrder, cast)
}

function requireDType(id: string): DType {
  const name = id.toLowerCase()
  // ggml's types go by their own names, too.
  const dtype = dtypeById(name) ?? dtypeById(`ggml.${name}`)
  if (dtype?.codec) return dtype
  const isMethod = dtypeById(`mcf.${name}`) !== undefined
  const castable = [...dtypes.values()].filter(({ codec }) => codec).map((each) => each.id)
  const quantizeWord = callerWord(`--quantize ${name}`, `quantize: '${name}'`)
  const hint = isMethod ? `; for its scales use ${quantizeWord}` : didYouMean(name, castable)
  const message = `there is no element type "${id}" to cast to${hint}`
  return failWith(usageCodes.option, { file: callerWord('--cast', 'cast'), message })
}
