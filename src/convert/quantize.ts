// Converting with a method per tensor: choose, look at the values once, then plan as for any conversion.
import type { Model, Tensor } from '../model/index.js'
import { type Clip, type Mode, quantizeTensor, requireMethod, scanRange } from '../transforms/quantize.js'
import { domainOf, type MethodChoice, type MethodOptions, planMethods } from '../transforms/quantize-plan.js'
import { selector } from '../transforms/select.js'
import { type Conversion, type ConvertOptions, type PlanAction, planConversion } from './plan.js'

export interface QuantizationOptions extends ConvertOptions, MethodOptions {
  readonly mode?: Mode | undefined
  /** Values of all quantized tensors are cut to this range first. */
  readonly clip?: Clip | undefined
  /**
   * Read all values beforehand: what cannot be quantized is refused before anything is written, and the container's records get the range
   * of the values. Without it the sizes are the same, and the records say that the range is not known.
   */
  readonly scan?: boolean | undefined
  readonly onScan?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

export interface Quantization extends Conversion {
  /** One per tensor that is kept, in the order of the model. */
  readonly choices: readonly MethodChoice[]
}

export async function planQuantization(
  model: Model,
  target: string,
  options: QuantizationOptions,
): Promise<Quantization> {
  const isWanted = selector(options.only, options.exclude)
  const everyMatrix = options.everyMatrix ?? options.mode === 'reference'
  const choices = planMethods(model, { ...options, everyMatrix })
  const chosen = new Map<Tensor, string>()
  for (const [i, tensor] of model.tensors.entries()) {
    const { method } = choices[i]!
    if (method !== undefined && isWanted(tensor.name)) chosen.set(tensor, method)
  }
  const ranges = options.scan === false || options.clip ? undefined : await scanAll(chosen, options)
  const tensors = model.tensors.map((tensor) => {
    const method = chosen.get(tensor)
    if (method === undefined) return tensor
    const domain = domainOf(requireMethod(method), options)
    const quantized = quantizeTensor(tensor, method, { ...options, domain, range: ranges?.get(tensor) })
    const isKnown = quantized.extra?.quantInfo !== undefined
    const unknown = { quantInfo: { domain, minClip: 'NaN', maxClip: 'NaN' } }
    return isKnown ? quantized : { ...quantized, extra: { ...quantized.extra, ...unknown } }
  })
  const conversion = await planConversion({ ...model, tensors }, target, options)
  const actions = nameQuantizing(conversion.plan.actions, chosen)
  return {
    ...conversion,
    plan: { ...conversion.plan, actions },
    choices: choices.filter(({ name }) => isWanted(name)),
  }
}

async function scanAll(chosen: ReadonlyMap<Tensor, string>, options: QuantizationOptions): Promise<Map<Tensor, Clip>> {
  const ranges = new Map<Tensor, Clip>()
  const total = [...chosen.keys()].reduce((sum, { data }) => sum + data!.byteLength, 0)
  let done = 0
  for (const [tensor, method] of chosen) {
    ranges.set(tensor, await scanRange(tensor, domainOf(requireMethod(method), options), options.signal))
    done += tensor.data!.byteLength
    options.onScan?.({ done, total, path: tensor.name })
  }
  return ranges
}

/** For the rest of the plan a quantized tensor is a copy of something that has the type already. */
function nameQuantizing(actions: readonly PlanAction[], chosen: ReadonlyMap<Tensor, string>): PlanAction[] {
  const unnamed = new Map([...chosen].map(([tensor, to]) => [tensor.name, { tensor, to }]))
  return actions.flatMap((action) => {
    const found = action.subject === 'tensor' && action.action !== 'drop' ? unnamed.get(action.name) : undefined
    if (!found) return [action]
    const { name, encoding, dtype } = found.tensor
    unnamed.delete(name)
    const types = { from: (encoding ?? dtype).id, to: found.to }
    const quantize: PlanAction = {
      subject: 'tensor',
      name,
      action: 'quantize',
      loss: 'precision',
      requested: true,
      ...types,
    }
    return action.action === 'copy' ? [quantize] : [quantize, action]
  })
}
