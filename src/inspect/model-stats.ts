// Statistics of many tensors on several threads. Each tensor is measured by one of them, so the figures do not depend on how many there are.
import { countElements } from '../bytes/index.js'
import type { Tensor, TensorList, TensorRecipe } from '../model/index.js'
import { tensorRecipe } from '../model/recipe-of.js'
import { isWorthComputing, type Job, type JobHandler, runMixed, type WorkerPool } from '../pool/index.js'
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

/** Nanoseconds for a value, about. */
const costOfValue = 3.3

/** The statistics of each tensor, in order, as they are known. */
export async function* statsOfTensors(
  tensors: TensorList,
  options: ModelStatsOptions = {},
): AsyncGenerator<TensorStats | NoStats, void, void> {
  const { pool, signal } = options
  const sizeOf = ({ data }: Tensor): number => data?.byteLength ?? 0
  const total = tensors.reduce((sum, tensor) => sum + sizeOf(tensor), 0)
  const values = tensors.reduce((sum, { shape, data }) => sum + (data ? (countElements(shape) ?? 0) : 0), 0)
  const isWorthIt = tensors.length > 1 && isWorthComputing(pool, values * costOfValue)
  let before = 0
  const tell = (bytes: number, path: string): void => options.onProgress?.({ done: before + bytes, total, path })
  const here = (tensor: Tensor): Promise<TensorStats | NoStats> => {
    const onProgress: StatsOptions['onProgress'] = ({ done, total: all }) =>
      tell(Math.round((all > 0 ? done / all : 1) * sizeOf(tensor)), tensor.name)
    return tensorStats(tensor, { ...options, onProgress })
  }
  const job = (tensor: Tensor): Job | undefined => statsJob(tensor, options)
  let next = 0
  for await (const stats of runMixed(tensors, { pool: isWorthIt ? pool : undefined, job, here, signal })) {
    const tensor = tensors.at(next++)!
    before += sizeOf(tensor)
    tell(0, tensor.name)
    yield stats
  }
}

function statsJob(tensor: Tensor, { bins, exact }: StatsOptions): Job | undefined {
  const recipe = tensorRecipe(tensor)
  const origin = tensor.data?.origin
  const data: StatsData | undefined = recipe && { tensor: recipe, bins, exact }
  return data && { kind: 'stats', data, file: origin?.source.name ?? 'tensor', offset: origin?.offset ?? 0 }
}

/** The other side. */
export const measureInWorker: JobHandler = async (data, _, { open, signal, advance }) => {
  const { tensor, bins, exact } = data as StatsData
  const rebuilt = rebuildTensor(tensor, open)
  const stats = await tensorStats(rebuilt, { bins, exact, signal })
  advance(rebuilt.data!.byteLength)
  return stats
}
