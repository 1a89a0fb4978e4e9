// What is recoded can be made by several threads. That is no gain for everything: bytes that another thread has made have to be copied to
// where this one finds them, and widening values takes less time than that.
import type { DType } from '../dtypes/index.js'
import type { Payload, Tensor, TensorList } from '../model/index.js'
import { byteCosts, valueCosts } from '../threads/costs.js'
import { isWorthComputing, type WorkerPool } from '../threads/index.js'
import { isRecoded, pooled } from '../transforms/pooled.js'

/** Nanoseconds per value, by what it becomes. */
function valueCost({ kind, group }: DType): number {
  if (kind === 'block') return group.elements >= 256 ? valueCosts.encodeLongBlock : valueCosts.encodeBlock
  return group.bytes / group.elements >= 4 ? valueCosts.widen : valueCosts.narrow
}

const byteCost = (dtype: DType): number => (valueCost(dtype) * dtype.group.elements) / dtype.group.bytes

/** How much sooner two threads have a byte than one, and more threads accordingly; less than nothing where they have it later. */
const gainOf = (dtype: DType, threads: number): number =>
  byteCost(dtype) - byteCosts.handOver / Math.max(1, threads - 1)

export function sharedOut(tensors: TensorList, pool: WorkerPool | undefined): TensorList {
  if (!pool) return tensors
  const gain = tensors.reduce(
    (sum, { data, dtype }) =>
      sum + (data && isMeant(data, dtype, pool) ? data.byteLength * gainOf(dtype, pool.threads) : 0),
    0,
  )
  if (!isWorthComputing(pool, gain)) return tensors
  // What tensors share, they share afterwards, too.
  const made = new Map<Payload, Payload>()
  return tensors.map((tensor: Tensor) => {
    const { data, dtype } = tensor
    if (!data || !isMeant(data, dtype, pool)) return tensor
    const shared = made.get(data) ?? pooled(data, pool, byteCost(dtype))
    made.set(data, shared)
    return { ...tensor, data: shared }
  })
}

const isMeant = (data: Payload, dtype: DType, { threads }: WorkerPool): boolean =>
  isRecoded(data) && gainOf(dtype, threads) > 0
