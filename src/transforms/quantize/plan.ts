// Chooses a method for each tensor of a model. Large float matrices are quantized; small or sensitive tensors are kept.
import { countElements } from '../../bytes/index.js'
import { bf16, f16, f32, f64 } from '../../dtypes/index.js'
import type { Domain } from '../../dtypes/mcf/layout.js'
import { callerWord, failWith, usageCodes } from '../../errors/index.js'
import type { Metadata, Tensor } from '../../model/index.js'
import { isQuantized, whyNotDequantized } from '../dequantize.js'
import { globMatcher } from '../glob.js'
import { fileOf } from '../map-elements.js'
import { type FloatMethod, floatMethod, needsWeights, quantizedSize, requireMethod } from './method.js'
import { chooseTypes, type MixChoice } from './mixes/choose-types.js'
import { mixOf, singleTypeOf } from './mixes/file-types.js'
import { modelFacts } from './mixes/model-facts.js'

export interface MethodOptions {
  /** One of the methods, or a mix of ggml's types as llama-quantize knows them: `q4_k_m`. */
  readonly method: string
  /** One type for all that a mix quantizes. */
  readonly pure?: boolean | undefined
  /** Methods by the names of tensors, `keep` for none. They come after `tensorMethod`, and before the method for all others. */
  readonly methods?: ReadonlyMap<string, string> | undefined
  /** Why these were chosen. */
  readonly reasons?: ReadonlyMap<string, string> | undefined
  /** Name patterns with the method to use, `keep` for none. The first match wins, before all other rules. */
  readonly tensorMethod?: readonly (readonly [glob: string, method: string])[] | undefined
  /** Quantize every float matrix, whatever its name and size, like the reference program. */
  readonly everyMatrix?: boolean | undefined
  readonly domain?: Domain | undefined
  /** Also quantize what is quantized already, from the values that its codes stand for. */
  readonly requantize?: boolean | undefined
  /** Importance weights by the name of a tensor; some of ggml's types need them. */
  readonly importance?: ReadonlyMap<string, Float32Array> | undefined
  /** Tensors that nothing may change, and why. */
  readonly untouchable?: ReadonlyMap<string, string> | undefined
  /** Only sizes are wanted: importance weights may be missing. */
  readonly isTrial?: boolean | undefined
}

export interface MethodChoice {
  readonly name: string
  /** The id of a method, or of a float type that the values are cast to. Absent if the tensor is kept. */
  readonly method?: string
  /** Why it is kept, or which rule chose the method. */
  readonly reason?: string
  readonly elements: number
  readonly sizeBefore: number
  readonly sizeAfter: number
}

type Method = ReturnType<typeof requireMethod>

const keepWord = 'keep'
const floatIds: ReadonlySet<string> = new Set([f64, f32, f16, bf16].map(({ id }) => id))
/** A single super-block: smaller tensors save no space worth mentioning. */
const minElements = 256

/** Names of tensors whose errors propagate to others. */
const delicate: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/(^|[._])(\w*norm\w*|ln_?\w*)([._]|$)/i, 'a normalization'],
  [/(^|[._])bias([._]|$)/i, 'a bias'],
  [/(^|[._])router([._]|$)|(^|\.)gate\.(weight|wg)([._]|$)|(^|\.)ffn_gate_inp/i, 'it routes to experts'],
]

/** The matrices of all experts of a layer, in one tensor. */
const isStackOfExperts = ({ name, shape }: Tensor): boolean => shape.length === 3 && name.includes('_exps.')

/** What is to be quantized. The metadata describes the model where it is one of llama.cpp. */
export interface Quantizable {
  readonly tensors: readonly Tensor[]
  readonly metadata?: Metadata | undefined
  /** What the tensors will be called, if not as they are. */
  readonly names?: readonly string[] | undefined
}

/** A method that was chosen for a tensor by its name. */
interface Settled {
  readonly method: Method | FloatMethod | undefined
  readonly reason: string
}

export function planMethods(model: Quantizable, options: MethodOptions): MethodChoice[] {
  const settled = settledMethods(model, options)
  const mix = chooseMix(model, settled, options)
  const method = mix ? undefined : requireMethod(options.method)
  return model.tensors.map((tensor, i) => {
    const by = settled[i] ?? (mix ? mixed(tensor, mix[i]!, options) : { method, reason: undefined })
    const isNamed = settled[i] !== undefined || mix !== undefined
    const whyNot = by.method ? whyNotQuantized(tensor, by.method, isNamed, options) : by.reason
    return choice(tensor, whyNot === undefined ? by.method : undefined, whyNot ?? by.reason, options)
  })
}

function settledMethods(
  { tensors, names }: Quantizable,
  { tensorMethod, methods, reasons }: MethodOptions,
): (Settled | undefined)[] {
  const known = (name: string): Settled['method'] =>
    name === keepWord ? undefined : (floatMethod(name) ?? requireMethod(name))
  const rules = (tensorMethod ?? []).map(([glob, name]) => {
    return { matches: globMatcher(glob), settled: { method: known(name), reason: `chosen by ${glob}` } }
  })
  return tensors.map(({ name }, i) => {
    const rule = rules.find(({ matches }) => matches(name))
    if (rule) return rule.settled
    const listed = methods?.get(names?.[i] ?? name) ?? methods?.get(name)
    return listed === undefined ? undefined : { method: known(listed), reason: reasons?.get(name) ?? 'chosen by name' }
  })
}

/** The choices of a mix; undefined where the method is one type for everything. */
function chooseMix(
  { tensors, metadata, names }: Quantizable,
  settled: readonly (Settled | undefined)[],
  { method, pure, importance, everyMatrix }: MethodOptions,
): MixChoice[] | undefined {
  const mix = mixOf(method)
  const fileType = mix ?? singleTypeOf(method)
  const facts = metadata && modelFacts(metadata)
  if (!fileType || !facts || everyMatrix) return undefined
  const named = tensors.map(({ name, shape }, i) => ({ name: names?.[i] ?? name, shape }))
  return chooseTypes(named, {
    ...{ fileType, facts, isPure: pure || !mix, hasImatrix: importance !== undefined },
    isSettled: (position) => settled[position] !== undefined,
  })
}

function mixed(tensor: Tensor, { type, reason, needsWeights: isNeedy }: MixChoice, options: MethodOptions) {
  if (isNeedy && !options.importance?.has(tensor.name)) checkWeights(tensor, type!, options)
  return { method: type === undefined ? undefined : (floatMethod(type) ?? requireMethod(type)), reason }
}

/** Without importance weights such types ruin a model, and llama-quantize refuses to make it. */
function checkWeights({ name, data }: Tensor, type: string, { method, importance, isTrial }: MethodOptions): void {
  if (isTrial) return
  const need = `${method} makes it ${type}, which needs importance weights`
  const how = callerWord('--imatrix', 'importance')
  const message = importance ? `${need}, and the importance matrix has none for it` : `${need}: use ${how}`
  failWith(usageCodes.option, { file: fileOf(data), path: name, message })
}

function choice(
  tensor: Tensor,
  method: Method | FloatMethod | undefined,
  reason: string | undefined,
  options: MethodOptions,
): MethodChoice {
  const sizeBefore = tensor.data?.byteLength ?? 0
  const sizeAfter = method ? quantizedSize(method, tensor.shape, domainOf(method, options))! : sizeBefore
  const { name, shape } = tensor
  const sizes = { elements: countElements(shape) ?? 0, sizeBefore, sizeAfter }
  const why = reason === undefined ? undefined : { reason }
  // Most have a method and no reason; what is written out takes half the memory of what is put together.
  if (!method || why) return { name, ...(method && { method: method.id }), ...why, ...sizes }
  return { name, method: method.id, elements: sizes.elements, sizeBefore, sizeAfter }
}

/** Only the raw types have a zero point. */
export const domainOf = (method: Method | FloatMethod, { domain }: MethodOptions): Domain =>
  method.family === 'int' ? (domain ?? 'weights') : 'weights'

/** What keeps a tensor from being quantized: first what it is, then whether it can be done, then whether it is worth it. */
function whyNotQuantized(
  tensor: Tensor,
  method: Method | FloatMethod,
  isNamed: boolean,
  options: MethodOptions,
): string | undefined {
  const isAnyMatrix = isNamed || options.everyMatrix === true
  const type = options.untouchable?.get(tensor.name) ?? whyNotOfType(tensor, method, options)
  if (type !== undefined) return type
  const kept = isAnyMatrix ? undefined : whyKept(tensor)
  if (kept !== undefined) return kept
  const size = quantizedSize(method, tensor.shape, domainOf(method, options))
  if (size === undefined) return whyNotOfShape(tensor.shape, method)
  if (needsWeights(method) && options.importance && !options.isTrial && !options.importance.has(tensor.name))
    return `there are no importance weights for it, which ${method.id} needs`
  return isAnyMatrix || size < tensor.data!.byteLength ? undefined : 'it would not become smaller'
}

function whyNotOfType(
  tensor: Tensor,
  method: Method | FloatMethod,
  { everyMatrix, requantize }: MethodOptions,
): string | undefined {
  const type = tensor.encoding ?? tensor.dtype
  if (!tensor.data) return 'it has no data'
  if (type.id === method.id) return `already ${type.id}`
  if (isQuantized(tensor)) {
    return requantize
      ? whyNotDequantized(tensor)
      : `already ${type.id}: use ${callerWord('--requantize', 'requantize')}`
  }
  return floatIds.has(type.id) && !(everyMatrix && type === f64) ? undefined : `${type.id} is not quantized`
}

function whyNotOfShape(shape: readonly number[], method: Method | FloatMethod): string {
  if (method.family !== 'ggml') return shape.length === 2 ? 'it is empty' : `${shape.length}-D, not a matrix`
  const [row, block] = [shape.at(-1) ?? 1, method.dtype.group.elements]
  const smaller = block > 32 && row % 32 === 0 ? ', but of 32, as q8_0 and others need' : ''
  return `rows of ${row} are not a multiple of ${block}${smaller}`
}

function whyKept(tensor: Tensor): string | undefined {
  if (tensor.role === 'state') return 'state of an optimizer'
  if (tensor.shape.length !== 2 && !isStackOfExperts(tensor)) return `${tensor.shape.length}-D, not a matrix`
  const found = delicate.find(([pattern]) => pattern.test(tensor.name))
  if (found) return found[1]
  return (countElements(tensor.shape) ?? 0) < minElements ? `fewer than ${minElements} values` : undefined
}
