// What changes the numbers of tensors because the caller wants it: codes become values, values become codes, floats other floats. It comes
// before the target is asked what it can hold, so the target sees tensors as they would be written.
import { type DType, dtypeById, f32 } from '../dtypes/index.js'
import { failWith, usageCodes } from '../errors/index.js'
import type { Tensor, TensorList } from '../model/index.js'
import { byteCosts } from '../threads/costs.js'
import { isWorthComputing, runMixed, type WorkerPool } from '../threads/index.js'
import { castLoss, castTensor } from '../transforms/cast.js'
import { dequantizeLoss, dequantizeTensor, isQuantized, whyNotDequantized } from '../transforms/dequantize.js'
import { rangeJob } from '../transforms/jobs.js'
import { type Clip, type CodeSet, type Mode, quantizeTensor, scanRange } from '../transforms/quantize.js'
import { requireMethod } from '../transforms/quantize-method.js'
import { domainOf, type MethodChoice, type MethodOptions, planMethods } from '../transforms/quantize-plan.js'
import { rowMajor } from '../transforms/reorder.js'
import { selector } from '../transforms/select.js'
import type { ActionKind, PlanAction } from './plan-types.js'

export interface QuantizeSettings extends MethodOptions {
  readonly mode?: Mode | undefined
  /** Whether the most negative code, which the document leaves unused, is used too. */
  readonly codes?: CodeSet | undefined
  /** Values of all quantized tensors are cut to this range first. */
  readonly clip?: Clip | undefined
  /**
   * Read all values beforehand: what cannot be quantized is refused before anything is written, and the container's records get the range
   * of the values. Without it the sizes are the same, and the records say that the range is not known.
   */
  readonly scan?: boolean | undefined
  readonly onScan?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

export interface RecodeOptions {
  readonly only?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
  /** Float tensors become this type; all others stay as they are. */
  readonly cast?: string | undefined
  /** Quantized tensors whose names match become floats: f32, or what `cast` says. */
  readonly dequantize?: readonly string[] | undefined
  /** Large matrices of floats are quantized, each by its method. */
  readonly quantize?: QuantizeSettings | undefined
  readonly signal?: AbortSignal | undefined
  /** Threads for what takes long. */
  readonly pool?: WorkerPool | undefined
}

export interface Recoded {
  readonly tensors: TensorList
  /** What was done to a tensor of the list above, by its position, where anything was. */
  readonly changes: ReadonlyMap<number, TensorChange>
  /** Which method each tensor takes that is kept, where any was asked for. */
  readonly choices?: readonly MethodChoice[]
}

export type TensorChange = Pick<PlanAction, 'action' | 'loss' | 'requested' | 'from' | 'to' | 'reason'>

type Changes = Map<number, TensorChange>

export async function recodeTensors(source: TensorList, options: RecodeOptions): Promise<Recoded> {
  const isWanted = selector(options.only, options.exclude)
  const cast = options.cast === undefined ? undefined : requireDType(options.cast)
  const changes: Changes = new Map()
  const decoded = options.dequantize ? dequantizeAll(source, isWanted, options.dequantize, cast, changes) : source
  const { quantize } = options
  const quantized = quantize && (await quantizeAll(source, decoded, isWanted, quantize, changes, options))
  const tensors = quantized?.tensors ?? decoded
  return {
    tensors: cast
      ? tensors.map((each, i) => (isWanted(each.name) && !changes.has(i) ? castFloat(each, i, cast, changes) : each))
      : tensors,
    changes,
    ...(quantized && { choices: quantized.choices }),
  }
}

const typeOf = ({ encoding, dtype }: Tensor): DType => encoding ?? dtype

function dequantizeAll(
  source: TensorList,
  isWanted: (name: string) => boolean,
  globs: readonly string[],
  cast: DType | undefined,
  changes: Changes,
): TensorList {
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
  source: TensorList,
  decoded: TensorList,
  isWanted: (name: string) => boolean,
  settings: QuantizeSettings,
  changes: Changes,
  threads: Threads,
): Promise<Required<Omit<Recoded, 'changes'>>> {
  const everyMatrix = settings.everyMatrix ?? settings.mode === 'reference'
  const choices = planMethods({ tensors: decoded }, { ...settings, everyMatrix })
  const chosen = choices.flatMap(({ name, method }, i): Chosen[] => {
    if (method === undefined || !isWanted(name)) return []
    // From the codes straight to other ones: what `cast` would round away in between stays.
    const stored = source.at(i)!
    const values = changes.get(i)?.action === 'dequantize' ? dequantizeTensor(stored, f32) : stored
    return [{ index: i, method, domain: domainOf(requireMethod(method), settings), values }]
  })
  const ranges = settings.scan === false || settings.clip ? undefined : await scanAll(chosen, settings, threads)
  const bytes = chosen.reduce((sum, { values }) => sum + values.data!.byteLength, 0)
  const pool = isWorthComputing(threads.pool, bytes * byteCosts.quantize) ? threads.pool : undefined
  const tensors = [...decoded]
  for (const each of chosen) {
    const { index, method } = each
    tensors[index] = quantize(each, settings, ranges?.get(each), pool)
    changes.set(index, change('quantize', 'precision', typeOf(source.at(index)!), method))
  }
  return { tensors, choices: choices.filter(({ name }) => isWanted(name)) }
}

type Threads = Pick<RecodeOptions, 'signal' | 'pool'>

interface Chosen {
  readonly index: number
  readonly method: string
  readonly domain: ReturnType<typeof domainOf>
  readonly values: Tensor
}

function quantize(
  { values, method, domain }: Chosen,
  { mode, codes, clip }: QuantizeSettings,
  range: Clip | undefined,
  pool: WorkerPool | undefined,
): Tensor {
  const quantized = quantizeTensor(values, method, { mode, codes, clip, domain, range, pool })
  if (quantized.extra?.quantInfo !== undefined || requireMethod(method).family === 'ggml') return quantized
  return { ...quantized, extra: { ...quantized.extra, quantInfo: { domain, minClip: 'NaN', maxClip: 'NaN' } } }
}

async function scanAll(
  chosen: readonly Chosen[],
  { onScan }: QuantizeSettings,
  { signal, pool }: Threads,
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
  // A row that is no whole number of blocks cannot have a block type; such tensors stay as they are.
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
  const message = `there is no element type "${id}" to cast to${isMethod ? `; for its scales use --quantize ${name}` : ''}`
  return failWith(usageCodes.option, { file: '--cast', message })
}
