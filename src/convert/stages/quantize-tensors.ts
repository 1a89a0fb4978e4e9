// Quantizes the tensors of a model, each by the method that is chosen for it. Nothing is computed before it is written, except the ranges of
// values.
import { f32 } from '../../dtypes/index.js'
import type { Tensor } from '../../model/index.js'
import { byteCosts } from '../../threads/costs.js'
import { isWorthComputing, type RunThreads, runMixed } from '../../threads/index.js'
import { castLoss, castTensor } from '../../transforms/cast.js'
import { dequantizeTensor, isQuantized } from '../../transforms/dequantize.js'
import { rangeJob } from '../../transforms/jobs.js'
import { floatMethod, needsWeights, requireMethod } from '../../transforms/quantize/method.js'
import { mixOf } from '../../transforms/quantize/mixes/file-types.js'
import { domainOf, type MethodChoice, planMethods } from '../../transforms/quantize/plan.js'
import { type Clip, quantizeTensor, scanRange } from '../../transforms/quantize/quantize.js'
import type { ConvertOptions, QuantizeSettings } from '../options.js'
import type { Item, State } from './state.js'
import { type Changes, change, typeOf } from './tensor-change.js'

export interface Quantized {
  readonly tensors: readonly Tensor[]
  /** Of the tensors that are wanted. */
  readonly choices: readonly MethodChoice[]
  /** Of the tensors whose records state them, by their positions. */
  readonly ranges: ReadonlyMap<number, Clip>
}

/** `decoded` are the tensors as they would be without quantizing. What is done is put into `changes`. */
export async function quantizeTensors(
  { model, items, options, threads }: State,
  decoded: readonly Tensor[],
  isWanted: (name: string) => boolean,
  given: QuantizeSettings,
  changes: Changes,
): Promise<Quantized> {
  const settings = given.importance ? { ...given, importance: importanceOf(items, given.importance) } : given
  const names = items.map(({ original, tensor }) => tensor?.name ?? original.name)
  const choices = planMethods(
    { tensors: decoded, metadata: model.metadata, names },
    { ...settings, everyMatrix: takesEveryMatrix(settings), isTrial: settings.scan === false },
  )
  const chosen = choices.flatMap(({ name, method }, i): Chosen[] => {
    if (method === undefined || !isWanted(name)) return []
    // From the codes straight to other ones: what `cast` would round away in between stays.
    const stored = model.tensors.at(i)!
    const values = isQuantized(stored) ? dequantizeTensor(stored, f32) : stored
    return [{ index: i, method, domain: domainOf(floatMethod(method) ?? requireMethod(method), settings), values }]
  })
  const coded = chosen.filter(({ method }) => !floatMethod(method))
  const isScanned = settings.scan !== false && !settings.clip
  const stated = isScanned ? coded.filter(({ method }) => statesRange(method)) : []
  const ranges = options.resolved?.ranges ?? (await scanAll(stated, settings, options))
  const bytes = coded.reduce((sum, { values }) => sum + values.data!.byteLength, 0)
  const worthwhile: RunThreads = {
    get pool() {
      return isWorthComputing(threads.pool, bytes * byteCosts.quantize) ? threads.pool : undefined
    },
  }
  const tensors = [...decoded]
  for (const each of chosen) {
    const { index, method, values } = each
    const float = floatMethod(method)?.dtype
    tensors[index] = float ? castTensor(values, float) : quantize(each, settings, ranges.get(index), worthwhile)
    const from = typeOf(model.tensors.at(index)!)
    changes.set(index, change(float ? 'cast' : 'quantize', float ? castLoss(from, float) : 'precision', from, method))
  }
  return {
    tensors,
    choices: choices.filter(({ name }) => isWanted(name)),
    ranges,
  }
}

/** ggml's types have no records; what they cannot hold is found while it is encoded, which saves reading everything twice. */
const statesRange = (method: string): boolean => requireMethod(method).family !== 'ggml'

/** MCF's reference program quantizes every matrix; ggml's leaves the choice to others. */
function takesEveryMatrix({ everyMatrix, mode, method }: QuantizeSettings): boolean {
  return everyMatrix ?? (mode === 'reference' && !mixOf(method) && requireMethod(method).family !== 'ggml')
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

interface Chosen {
  readonly index: number
  readonly method: string
  readonly domain: ReturnType<typeof domainOf>
  readonly values: Tensor
}

function quantize(
  { values, method, domain }: Chosen,
  { mode, codes, clip, importance, scan }: QuantizeSettings,
  range: Clip | undefined,
  threads: RunThreads,
): Tensor {
  const known = requireMethod(method)
  const isBlock = known.family === 'ggml'
  // For sizes alone, nothing is read, and any weights do.
  const trial = scan === false && needsWeights(known) ? new Float32Array(values.shape.at(-1) ?? 0) : undefined
  const quantized = quantizeTensor(values, method, {
    ...{ mode, codes, clip, domain, range, threads },
    importance: importance?.get(values.name) ?? trial,
  })
  if (quantized.extra?.quantInfo !== undefined || isBlock) return quantized
  return { ...quantized, extra: { ...quantized.extra, quantInfo: { domain, minClip: 'NaN', maxClip: 'NaN' } } }
}

async function scanAll(
  chosen: readonly Chosen[],
  { onScan }: QuantizeSettings,
  { signal, pool, lookAt }: ConvertOptions,
): Promise<Map<number, Clip>> {
  const ranges = new Map<number, Clip>()
  if (lookAt) {
    const costs = chosen.map(({ values }) => values.data!.byteLength * byteCosts.scan)
    const look = (place: number, stop?: AbortSignal): Promise<Clip> =>
      scanRange(chosen[place]!.values, chosen[place]!.domain, stop)
    const found = await lookAt('range', costs, look)
    for (const [place, { index }] of chosen.entries()) ranges.set(index, found[place] as Clip)
    return ranges
  }
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
    ranges.set(each.index, range as Clip)
    done += each.values.data!.byteLength
    onScan?.({ done, total, path: each.values.name })
  }
  return ranges
}
