// Chooses a method for each tensor of a model. Large float matrices are quantized; small or sensitive tensors are kept.
import { countElements } from '../../bytes/index.js'
import { bf16, f16, f32, f64 } from '../../dtypes/index.js'
import type { Domain } from '../../dtypes/mcf/layout.js'
import { callerWord } from '../../errors/index.js'
import type { Model, Tensor } from '../../model/index.js'
import { isQuantized, whyNotDequantized } from '../dequantize.js'
import { globMatcher } from '../glob.js'
import { needsWeights, quantizedSize, requireMethod } from './method.js'

export interface MethodOptions {
  readonly method: string
  /** Name patterns with the method to use, `keep` for none. The first match wins, before all other rules. */
  readonly tensorMethod?: readonly (readonly [glob: string, method: string])[] | undefined
  /** Quantize every float matrix, whatever its name and size, like the reference program. */
  readonly everyMatrix?: boolean | undefined
  readonly domain?: Domain | undefined
  /** Also quantize what is quantized already, from the values that its codes stand for. */
  readonly requantize?: boolean | undefined
  /** Importance weights by the name of a tensor; some of ggml's types need them. */
  readonly importance?: ReadonlyMap<string, Float32Array> | undefined
}

export interface MethodChoice {
  readonly name: string
  /** Absent if the tensor is kept. */
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

export function planMethods(model: Pick<Model, 'tensors'>, options: MethodOptions): MethodChoice[] {
  const rules = (options.tensorMethod ?? []).map(([glob, name]) => {
    return { glob, matches: globMatcher(glob), method: name === keepWord ? undefined : requireMethod(name) }
  })
  const fallback = requireMethod(options.method)
  return model.tensors.map((tensor) => {
    const rule = rules.find(({ matches }) => matches(tensor.name))
    const method = rule ? rule.method : fallback
    const reason = rule ? `chosen by ${rule.glob}` : undefined
    const whyNot = method ? whyNotQuantized(tensor, method, rule !== undefined, options) : reason
    return choice(tensor, whyNot === undefined ? method : undefined, whyNot ?? reason, options)
  })
}

function choice(
  tensor: Tensor,
  method: Method | undefined,
  reason: string | undefined,
  options: MethodOptions,
): MethodChoice {
  const sizeBefore = tensor.data?.byteLength ?? 0
  const sizeAfter = method ? quantizedSize(method, tensor.shape, domainOf(method, options))! : sizeBefore
  return {
    name: tensor.name,
    ...(method && { method: method.id }),
    ...(reason !== undefined && { reason }),
    elements: countElements(tensor.shape) ?? 0,
    sizeBefore,
    sizeAfter,
  }
}

/** Only the raw types have a zero point. */
export const domainOf = (method: Method, { domain }: MethodOptions): Domain =>
  method.family === 'int' ? (domain ?? 'weights') : 'weights'

/** What keeps a tensor from being quantized: first what it is, then whether it can be done, then whether it is worth it. */
function whyNotQuantized(tensor: Tensor, method: Method, isNamed: boolean, options: MethodOptions): string | undefined {
  const isAnyMatrix = isNamed || options.everyMatrix === true
  const type = whyNotOfType(tensor, method, options)
  if (type !== undefined) return type
  const kept = isAnyMatrix ? undefined : whyKept(tensor)
  if (kept !== undefined) return kept
  const size = quantizedSize(method, tensor.shape, domainOf(method, options))
  if (size === undefined) return whyNotOfShape(tensor.shape, method)
  if (needsWeights(method) && options.importance && !options.importance.has(tensor.name))
    return `there are no importance weights for it, which ${method.id} needs`
  return isAnyMatrix || size < tensor.data!.byteLength ? undefined : 'it would not become smaller'
}

function whyNotOfType(tensor: Tensor, method: Method, { everyMatrix, requantize }: MethodOptions): string | undefined {
  const type = tensor.encoding ?? tensor.dtype
  if (!tensor.data) return 'it has no data'
  if (isQuantized(tensor)) {
    if (type.id === method.id) return `already ${type.id}`
    return requantize
      ? whyNotDequantized(tensor)
      : `already ${type.id}: use ${callerWord('--requantize', 'requantize')}`
  }
  return floatIds.has(type.id) && !(everyMatrix && type === f64) ? undefined : `${type.id} is not quantized`
}

function whyNotOfShape(shape: readonly number[], method: Method): string {
  if (method.family !== 'ggml') return shape.length === 2 ? 'it is empty' : `${shape.length}-D, not a matrix`
  return `rows of ${shape.at(-1) ?? 1} are not a multiple of ${method.dtype.group.elements}`
}

function whyKept(tensor: Tensor): string | undefined {
  if (tensor.role === 'state') return 'state of an optimizer'
  if (tensor.shape.length !== 2 && !isStackOfExperts(tensor)) return `${tensor.shape.length}-D, not a matrix`
  const found = delicate.find(([pattern]) => pattern.test(tensor.name))
  if (found) return found[1]
  return (countElements(tensor.shape) ?? 0) < minElements ? `fewer than ${minElements} values` : undefined
}
