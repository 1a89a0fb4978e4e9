// Statistics of many tensors on several threads. Each tensor is measured by a single thread, so results do not depend on the number of
// threads.
import { countElements } from '../bytes/index.js'
import type { Tensor, TensorRecipe } from '../model/index.js'
import { tensorRecipe } from '../model/model.js'
import { makePacked } from '../packed/index.js'
import { valueCosts } from '../threads/costs.js'
import { isWorthComputing, type Job, type JobHandler, runMixed, type WorkerPool } from '../threads/index.js'
import { rebuildTensor } from '../transforms/rebuild.js'
import { type NoStats, type StatsOptions, type TensorStats, tensorStats } from './stats.js'

interface StatsData {
  readonly tensor: TensorRecipe
  readonly bins: number | undefined
  readonly exact: boolean | undefined
}

export interface ModelStatsOptions extends StatsOptions {
  readonly pool?: WorkerPool | undefined
}

/** The statistics of each tensor, in order, as soon as they are known. */
export async function* statsOfTensors(
  tensors: readonly Tensor[],
  options: ModelStatsOptions = {},
): AsyncGenerator<TensorStats | NoStats, void, void> {
  const { pool, signal } = options
  const sizeOf = ({ data }: Tensor): number => data?.byteLength ?? 0
  const total = tensors.reduce((sum, tensor) => sum + sizeOf(tensor), 0)
  const values = tensors.reduce((sum, { shape, data }) => sum + (data ? (countElements(shape) ?? 0) : 0), 0)
  const isWorthIt = tensors.length > 1 && isWorthComputing(pool, values * valueCosts.statistics)
  let done = 0
  let path = ''
  const advance = (bytes: number): void => {
    done += bytes
    options.onProgress?.({ done, total, path })
  }
  const here = async (tensor: Tensor, stop: AbortSignal | undefined): Promise<TensorStats | NoStats> => {
    const size = sizeOf(tensor)
    let reported = 0
    const report = (bytes: number): void => {
      path = tensor.name
      advance(bytes - reported)
      reported = bytes
    }
    const onProgress: StatsOptions['onProgress'] = ({ done: part, total: all }) =>
      report(Math.round((all > 0 ? part / all : 1) * size))
    const stats = await tensorStats(tensor, { ...options, signal: stop, onProgress })
    report(size)
    return stats
  }
  const job = (tensor: Tensor): Job | undefined => statsJob(tensor, options)
  yield* runMixed(tensors, { pool: isWorthIt ? pool : undefined, job, here, signal, onAdvance: advance })
}

function statsJob(tensor: Tensor, { bins, exact }: StatsOptions): Job | undefined {
  const recipe = tensorRecipe(tensor)
  const origin = tensor.data?.origin
  const data: StatsData | undefined = recipe && { tensor: recipe, bins, exact }
  return data && { kind: 'stats', data, file: origin?.source.name ?? 'tensor', offset: origin?.offset ?? 0 }
}

/** Runs in a worker. */
export const measureInWorker: JobHandler = async (data, _, { open, signal, advance }) => {
  const { tensor, bins, exact } = data as StatsData
  const rebuilt = rebuildTensor(tensor, open, { packed: makePacked })
  const stats = await tensorStats(rebuilt, { bins, exact, signal })
  advance(rebuilt.data!.byteLength)
  return stats
}
