// What a person wants to know first: what kind of model it is, how large, and whether it fits into memory.
import { type ByteSource, countElements } from '../bytes/index.js'
import { type Architecture, architectureOf } from '../content/architecture.js'
import type { Model, Tensor } from '../model/index.js'
import { describePacking, membersOf, type Packing, packedElements, packingOf } from '../packed/index.js'

/** What a person wants to know first: the kind of model, its size, and the memory that it takes. */
export interface ModelSummary {
  /** Absent if the model says nothing about it. */
  readonly architecture?: Architecture
  /** Optimizer states do not count. Of packed weights the elements do, not the words that codes and scales take. */
  readonly parameters: number
  /** How weights are packed that are stored in several tensors each; absent if none is. */
  readonly packing?: readonly PackingSummary[]
  /** null if there are no weights. */
  readonly bitsPerWeight: number | null
  /** The bytes that the weights take in memory as they are stored; what several tensors share counts once. */
  readonly weightBytes: number
  /** An estimate for 16-bit values. Absent if the model says too little. */
  readonly kvCache?: {
    /** What each token adds, in all layers together. */
    readonly bytesPerToken: number
    /** What of it is in layers that keep the last tokens only. */
    readonly window?: { readonly tokens: number; readonly bytesPerToken: number }
    /** For the whole context; absent if its length is not known. */
    readonly bytes?: number
  }
}

export interface PackingSummary {
  /** `gptq 4-bit, group 128` */
  readonly form: string
  readonly weights: number
  readonly parameters: number
}

const bytesPerCached = 2

export async function summarizeModel(model: Model, signal?: AbortSignal): Promise<ModelSummary> {
  const architecture = await architectureOf(model, signal)
  const packing = await packingOf(model, signal)
  const forms = formsOf(packing)
  const inForms = packedNames(packing)
  let parameters = forms.reduce((sum, form) => sum + form.parameters, 0)
  let stored = 0
  for (const { name, role, shape, data } of model.tensors) {
    if (role !== 'weight') continue
    if (!inForms.has(name)) parameters += countElements(shape) ?? 0
    stored += data?.byteLength ?? 0
  }
  const kvCache = architecture && cacheOf(architecture)
  return {
    ...(architecture && { architecture }),
    parameters,
    ...(forms.length > 0 && { packing: forms }),
    bitsPerWeight: parameters > 0 && stored > 0 ? (8 * stored) / parameters : null,
    weightBytes: areApart(model.tensors) ? stored : distinctBytes(model.tensors),
    ...(kvCache && { kvCache }),
  }
}

function formsOf({ weights }: Packing): PackingSummary[] {
  const forms = new Map<string, PackingSummary>()
  for (const weight of weights) {
    const form = describePacking(weight)
    const before = forms.get(form) ?? { form, weights: 0, parameters: 0 }
    forms.set(form, { form, weights: before.weights + 1, parameters: before.parameters + packedElements(weight) })
  }
  return [...forms.values()]
}

/** The names of all tensors that packed weights are made of. */
const packedNames = ({ weights, unused }: Packing): ReadonlySet<string> =>
  new Set([...unused, ...weights.flatMap((weight) => membersOf(weight).map(({ name }) => name))])

function cacheOf({ cache, context }: Architecture): ModelSummary['kvCache'] {
  if (!cache) return undefined
  const { perToken, window } = cache
  const kept = (perToken - (window?.perToken ?? 0)) * (context ?? Number.NaN)
  const bytes = bytesPerCached * (kept + (window ? window.perToken * Math.min(window.tokens, context ?? 0) : 0))
  return {
    bytesPerToken: bytesPerCached * perToken,
    ...(window && { window: { tokens: window.tokens, bytesPerToken: bytesPerCached * window.perToken } }),
    ...(Number.isSafeInteger(bytes) && { bytes }),
  }
}

/** Whether each tensor lies behind the one before it, as in most files: then none shares bytes with another. */
function areApart(tensors: readonly Tensor[]): boolean {
  let end = 0
  let source: ByteSource | undefined
  for (const { data } of tensors) {
    const origin = data?.origin
    if (!origin) continue
    source ??= origin.source
    if (origin.source !== source || origin.offset < end) return false
    end = origin.offset + origin.length
  }
  return true
}

/** Of tensors that begin at the same byte, the longest counts. */
function distinctBytes(tensors: readonly Tensor[]): number {
  const lengths = new Map<ByteSource, Map<number, number>>()
  let sum = 0
  for (const { role, data } of tensors) {
    if (role !== 'weight' || !data) continue
    const { origin } = data
    if (!origin) {
      sum += data.byteLength
      continue
    }
    const ofSource = lengths.get(origin.source) ?? new Map<number, number>()
    lengths.set(origin.source, ofSource)
    const before = ofSource.get(origin.offset) ?? 0
    ofSource.set(origin.offset, Math.max(before, data.byteLength))
    sum += Math.max(0, data.byteLength - before)
  }
  return sum
}
