// What changes the numbers of tensors because the caller wants it: codes become values, values become codes, floats other floats. It comes
// before the target is asked what it can hold, so the target sees tensors as they would be written.
import { type DType, dtypeById, dtypes, f32 } from '../../dtypes/index.js'
import { callerWord, didYouMean, failWith, usageCodes } from '../../errors/index.js'
import type { Tensor } from '../../model/index.js'
import { byteCosts } from '../../threads/costs.js'
import { isWorthComputing, type RunThreads, runMixed } from '../../threads/index.js'
import { castLoss, castTensor } from '../../transforms/cast.js'
import { dequantizeLoss, dequantizeTensor, isQuantized, whyNotDequantized } from '../../transforms/dequantize.js'
import { rangeJob } from '../../transforms/jobs.js'
import { requireMethod } from '../../transforms/quantize/method.js'
import { domainOf, type MethodChoice, planMethods } from '../../transforms/quantize/plan.js'
import { type Clip, quantizeTensor, scanRange } from '../../transforms/quantize/quantize.js'
import { rowMajor } from '../../transforms/reorder.js'
import { renameTensor, selector } from '../../transforms/select.js'
import { type ActionKind, type ActionLog, noter, type PlanAction } from '../actions.js'
import type { ConvertOptions, QuantizeSettings } from '../options.js'
import type { Item, State } from './state.js'

type TensorChange = Pick<PlanAction, 'action' | 'loss' | 'requested' | 'from' | 'to' | 'reason'>

type Changes = Map<number, TensorChange>

/** Tensors are decoded, quantized or cast where the caller asks for it. */
export async function recode(state: State): Promise<State> {
  const { options, model, items, threads } = state
  const { dequantize, quantize, only, exclude } = options
  const cast = options.cast === undefined ? undefined : requireDType(options.cast)
  if (!dequantize && !quantize && !cast) return state
  const isWanted = selector(only, exclude)
  const changes: Changes = new Map()
  const decoded = dequantize ? dequantizeAll(model.tensors, isWanted, dequantize, cast, changes) : model.tensors
  const settings = quantize?.importance
    ? { ...quantize, importance: importanceOf(items, quantize.importance) }
    : quantize
  const quantized =
    settings && (await quantizeAll(model.tensors, decoded, isWanted, settings, changes, options, threads))
  const coded = quantized?.tensors ?? decoded
  const tensors = cast
    ? coded.map((each, i) => (isWanted(each.name) && !changes.has(i) ? castFloat(each, i, cast, changes) : each))
    : coded
  return {
    ...state,
    model: { ...model, tensors },
    items: items.map((item, i) => recodedItem(item, tensors[i]!, changes.get(i))),
    ...(quantized && {
      choices: quantized.choices,
      notes: [...state.notes, ...idleMethod(quantized.choices, options)],
    }),
  }
}

function idleMethod(choices: readonly MethodChoice[], { quantize: settings }: ConvertOptions): string[] {
  if (choices.some(({ method }) => method !== undefined)) return []
  const where = callerWord('`tare quantize --dry-run` says', '`choices` say')
  return [`${callerWord('--quantize', 'quantize')} ${settings?.method} changes nothing; ${where} why for each tensor`]
}

/** By the names that tensors have in the source. A matrix names them as in the target, or as in the source. */
function importanceOf(items: readonly Item[], given: ReadonlyMap<string, Float32Array>): Map<string, Float32Array> {
  return new Map(
    items.flatMap(({ original, tensor }): [string, Float32Array][] => {
      const weights = given.get(tensor?.name ?? '') ?? given.get(original.name)
      return weights ? [[original.name, weights]] : []
    }),
  )
}

function recodedItem(item: Item, recoded: Tensor, change: TensorChange | undefined): Item {
  const { original, tensor } = item
  if (!tensor || !change) return item
  const { action, loss, ...more } = change
  const actions: ActionLog = [...item.actions]
  noter(actions, 'tensor', original.name)(action, loss, more)
  return { ...item, tensor: renameTensor(recoded, tensor.name), actions }
}

const typeOf = ({ encoding, dtype }: Tensor): DType => encoding ?? dtype

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

async function quantizeAll(
  source: readonly Tensor[],
  decoded: readonly Tensor[],
  isWanted: (name: string) => boolean,
  settings: QuantizeSettings,
  changes: Changes,
  options: ConvertOptions,
  threads: RunThreads,
): Promise<{ tensors: readonly Tensor[]; choices: readonly MethodChoice[] }> {
  // MCF's reference program quantizes every matrix; ggml's leaves the choice to others.
  const everyMatrix =
    settings.everyMatrix ?? (settings.mode === 'reference' && requireMethod(settings.method).family !== 'ggml')
  const choices = planMethods({ tensors: decoded }, { ...settings, everyMatrix })
  const chosen = choices.flatMap(({ name, method }, i): Chosen[] => {
    if (method === undefined || !isWanted(name)) return []
    // From the codes straight to other ones: what `cast` would round away in between stays.
    const stored = source.at(i)!
    const values = isQuantized(stored) ? dequantizeTensor(stored, f32) : stored
    return [{ index: i, method, domain: domainOf(requireMethod(method), settings), values }]
  })
  const ranges = settings.scan === false || settings.clip ? undefined : await scanAll(chosen, settings, options)
  const bytes = chosen.reduce((sum, { values }) => sum + values.data!.byteLength, 0)
  const worthwhile: RunThreads = {
    get pool() {
      return isWorthComputing(threads.pool, bytes * byteCosts.quantize) ? threads.pool : undefined
    },
  }
  const tensors = [...decoded]
  for (const each of chosen) {
    const { index, method } = each
    tensors[index] = quantize(each, settings, ranges?.get(each), worthwhile)
    changes.set(index, change('quantize', 'precision', typeOf(source.at(index)!), method))
  }
  return { tensors, choices: choices.filter(({ name }) => isWanted(name)) }
}

interface Chosen {
  readonly index: number
  readonly method: string
  readonly domain: ReturnType<typeof domainOf>
  readonly values: Tensor
}

function quantize(
  { values, method, domain }: Chosen,
  { mode, codes, clip, importance }: QuantizeSettings,
  range: Clip | undefined,
  threads: RunThreads,
): Tensor {
  const quantized = quantizeTensor(values, method, {
    ...{ mode, codes, clip, domain, range, threads },
    importance: requireMethod(method).family === 'ggml' ? importance?.get(values.name) : undefined,
  })
  if (quantized.extra?.quantInfo !== undefined || requireMethod(method).family === 'ggml') return quantized
  return { ...quantized, extra: { ...quantized.extra, quantInfo: { domain, minClip: 'NaN', maxClip: 'NaN' } } }
}

async function scanAll(
  chosen: readonly Chosen[],
  { onScan }: QuantizeSettings,
  { signal, pool }: ConvertOptions,
): Promise<Map<Chosen, Clip>> {
  const ranges = new Map<Chosen, Clip>()
  const total = chosen.reduce((sum, { values }) => sum + values.data!.byteLength, 0)
  const isWorthIt = isWorthComputing(pool, total * byteCosts.scan)
  const found = runMixed(chosen, {
    pool: isWorthIt ? pool : undefined,
    job: ({ values, domain }) => rangeJob(values, domain),
    here: ({ values, domain }, stop) => scanRange(values, domain, stop),
    signal,
  })
  let done = 0
  for await (const range of found) {
    const each = chosen[ranges.size]!
    ranges.set(each, range as Clip)
    done += each.values.data!.byteLength
    onScan?.({ done, total, path: each.values.name })
  }
  return ranges
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

const change = (action: ActionKind, loss: PlanAction['loss'], from: DType, to: string): TensorChange => ({
  action,
  loss,
  requested: true,
  from: from.id,
  to,
})

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
