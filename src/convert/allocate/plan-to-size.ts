// A method per tensor so that the output has a size. What the output takes beside the tensors that can be quantized is known from a plan in
// which nothing is; the rest of the size is spent where measured errors say that it helps most.
import { countElements } from '../../bytes/index.js'
import { dtypeById } from '../../dtypes/index.js'
import { failWith, usageCodes } from '../../errors/index.js'
import { requireFormat } from '../../formats/index.js'
import type { Model, Tensor } from '../../model/index.js'
import { isWorthComputing, runMixed } from '../../threads/index.js'
import { globMatcher } from '../../transforms/glob.js'
import { type MethodChoice, planMethods } from '../../transforms/quantize/plan.js'
import type { ConvertOptions, QuantizeSettings, SizeTarget } from '../options.js'
import { takesBlocks } from '../stages/fit.js'
import { allocate, type Option } from './allocate.js'
import { keepWord, measureJob, measureOptions } from './measure.js'

/** What is asked about a plan. */
interface Planned {
  readonly plan: { readonly size: number }
  readonly model: Model
}

type PlanConversion = (source: Model, target: string, options: ConvertOptions) => Promise<Planned>

/** The settings with a method for every tensor. */
export async function settleMethods(
  source: Model,
  target: string,
  options: ConvertOptions & { readonly quantize: QuantizeSettings },
  plan: PlanConversion,
): Promise<QuantizeSettings> {
  const { target: wanted, ...settings } = options.quantize
  if (!wanted) return settings
  const plain = await plan(source, target, { ...options, quantize: undefined })
  const write = requireFormat(target).capabilities.write
  const isGgml = write !== undefined && takesBlocks(write, dtypeById('ggml.q4_k')!)
  const { tensors, metadata } = plain.model
  const probe = { ...settings, method: isGgml ? 'q8_0' : 'q8', pure: true, isTrial: true, methods: undefined }
  const globs = settings.tensorMethod?.map(([glob]) => globMatcher(glob)) ?? []
  const isFixed = (name: string): boolean => globs.some((matches) => matches(name))
  const choices = planMethods({ tensors, metadata }, probe)
  const open = tensors.filter(({ name }, i) => choices[i]!.method !== undefined && !isFixed(name))
  const measured = await measureAll(open, settings, isGgml, options)
  const others = choices.filter(({ name, method }) => method === undefined || isFixed(name))
  let budget = budgetFor(wanted, plain, others)
  for (let attempt = 0; ; attempt++) {
    const chosen = allocate(measured, budget)
    if (!chosen) return refuse(options.name, wanted, minBytes(measured) - budget, plain)
    const methods = new Map([
      ...others.map(({ name }) => [name, keepWord] as const),
      ...chosen.map(({ method }, i) => [open[i]!.name, method] as const),
    ])
    const reasons = new Map([
      ...others.map(({ name, reason = '' }) => [name, reason] as const),
      ...chosen.map((option, i) => [open[i]!.name, reasonFor(option, open[i]!)] as const),
    ])
    const settled = { ...settings, methods, reasons }
    const over = excess(wanted, await plan(source, target, { ...options, quantize: { ...settled, scan: false } }))
    // Alignment takes other bytes for other sizes.
    if (over <= 0 || attempt === maxAttempts) return settled
    budget -= over
  }
}

const maxAttempts = 4

async function measureAll(
  tensors: readonly Tensor[],
  { importance, mode, codes, onScan }: QuantizeSettings,
  isGgml: boolean,
  { signal, pool, lookAt }: ConvertOptions,
): Promise<Option[][]> {
  const total = tensors.length
  const measured: Option[][] = []
  const optionsFor = ({ name }: Tensor) => ({ isGgml, importance: importance?.get(name), mode, codes, signal })
  if (lookAt) {
    const costs = tensors.map(() => measureCost)
    const look = (place: number, stop?: AbortSignal): Promise<Option[]> =>
      measureOptions(tensors[place]!, { ...optionsFor(tensors[place]!), signal: stop })
    return (await lookAt('methods', costs, look)) as Option[][]
  }
  const found = runMixed(tensors, {
    pool: isWorthComputing(pool, total * measureCost) ? pool : undefined,
    job: (tensor) => measureJob(tensor, optionsFor(tensor)),
    here: (tensor, stop) => measureOptions(tensor, { ...optionsFor(tensor), signal: stop }),
    signal,
  })
  for await (const options of found) {
    measured.push(options as Option[])
    onScan?.({ done: measured.length, total, path: tensors[measured.length - 1]!.name })
  }
  return measured
}

/** Nanoseconds for trying all methods on the sample of a tensor, about. */
const measureCost = 5e6

/** What the other tensors, and all that is no tensor, leave of the target. */
function budgetFor(wanted: SizeTarget, { plan, model }: Planned, others: readonly MethodChoice[]): number {
  const taken = others.reduce((sum, { sizeAfter }) => sum + sizeAfter, 0)
  if ('bits' in wanted) return Math.floor((wanted.bits * elementsOf(model.tensors)) / 8) - taken
  return wanted.size - (plan.size - bytesOf(model.tensors)) - taken
}

const elementsOf = (tensors: readonly Tensor[]): number =>
  tensors.reduce((sum, { shape }) => sum + (countElements(shape) ?? 0), 0)

const bytesOf = (tensors: readonly Tensor[]): number =>
  tensors.reduce((sum, { data }) => sum + (data?.byteLength ?? 0), 0)

const minBytes = (measured: readonly (readonly Option[])[]): number =>
  measured.reduce((sum, options) => sum + Math.min(...options.map(({ bytes }) => bytes)), 0)

/** By how many bytes a plan misses its target. */
function excess(wanted: SizeTarget, { plan, model }: Planned): number {
  if ('size' in wanted) return plan.size - wanted.size
  return bytesOf(model.tensors) - Math.floor((wanted.bits * elementsOf(model.tensors)) / 8)
}

function reasonFor({ method, error }: Option, { shape }: Tensor): string {
  if (method === keepWord) return 'the size leaves room for it'
  return `relative error ${Math.sqrt(error / Math.max(1, countElements(shape) ?? 1)).toPrecision(3)}`
}

function refuse(file: string, wanted: SizeTarget, missing: number, { model }: Planned): never {
  const [asked, smallest] =
    'size' in wanted
      ? [`${wanted.size} bytes`, `${wanted.size + missing} bytes`]
      : [`${wanted.bits} bits per weight`, `${(wanted.bits + (8 * missing) / elementsOf(model.tensors)).toFixed(2)}`]
  const message = `${asked} are too few: with the smallest methods it takes ${smallest}`
  return failWith(usageCodes.option, { file, message })
}
